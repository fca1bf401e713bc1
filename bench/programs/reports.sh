#!/bin/bash
# Reports its progress twice a second, another one each time, for so many seconds.
for ((i = 0; i < $1 * 2; i++)); do
  echo "{\"v\":1,\"type\":\"progress\",\"pct\":$((i % 100))}"
  sleep 0.5
done
echo '{"v":1,"type":"result","status":"ok"}'
