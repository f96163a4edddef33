{
  "targets": [
    {
      "target_name": "launch",
      "conditions": [
        ["OS=='linux'", { "sources": ["native/launch.c"], "cflags": ["-O2", "-Wall", "-Wextra"] }, { "type": "none" }]
      ]
    }
  ]
}
