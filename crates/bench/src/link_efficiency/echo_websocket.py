"""A WebSocket server that sends every message back, on Tornado, which paper 003 used; by arguments: an address, a port."""
import sys

import tornado.ioloop
import tornado.web
import tornado.websocket


class Echo(tornado.websocket.WebSocketHandler):
    def open(self):
        self.set_nodelay(True)

    def on_message(self, message):
        self.write_message(message)


application = tornado.web.Application([("/echo", Echo)])
application.listen(int(sys.argv[2]), address=sys.argv[1])
tornado.ioloop.IOLoop.current().start()
