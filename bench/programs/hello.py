print('{"type":"result","status":"ok"}')
