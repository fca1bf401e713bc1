#!/bin/bash
echo '{"type":"result","status":"ok"}'
