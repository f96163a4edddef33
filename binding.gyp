{
  "targets": [
    {
      "target_name": "launch",
      "conditions": [
        ["OS=='linux'", { "sources": ["native/launch.c", "native/starters.c", "native/start.c", "native/guard.c"], "cflags": ["-O2", "-Wall", "-Wextra"] }, { "type": "none" }]
      ]
    }
  ]
}
