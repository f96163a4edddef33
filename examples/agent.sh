#!/bin/sh
# One command from short calls, as a serverless caller makes them: start once, long-poll until closed, nothing lost between two calls.
# Wants EXEC_GATEWAY_URL and EXEC_GATEWAY_TOKEN, curl and python3.
set -eu
auth="Authorization: Bearer $EXEC_GATEWAY_TOKEN"
id="agent-$$"

curl -fsS -o /dev/null -X PUT -H "$auth" -H 'Content-Type: application/json' --retry 3 \
  -d '{"argv":["sh","-c","for i in 1 2 3; do echo step $i; sleep 0.1; done; exit 4"]}' "$EXEC_GATEWAY_URL/processes/$id"

after=0
while :; do
  curl -fsS -H "$auth" "$EXEC_GATEWAY_URL/processes/$id/output?after_seq=$after&wait_ms=20000&encoding=utf8" >"/tmp/$id.json"
  python3 -c 'import json,sys; print("".join(c["chunk"] for c in json.load(open(sys.argv[1]))["chunks"]), end="")' "/tmp/$id.json"
  after=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["next_seq"] - 1)' "/tmp/$id.json")
  if grep -q '"closed":true' "/tmp/$id.json"; then break; fi
done
python3 -c 'import json,sys; print("exit code", json.load(open(sys.argv[1]))["exit_code"])' "/tmp/$id.json"
rm -f "/tmp/$id.json"
