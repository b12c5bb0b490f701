"""A server that sends every text of a WebSocket and every POST back, on Tornado, which paper 003 used; by arguments: an address, a port."""
import sys

import tornado.ioloop
import tornado.web
import tornado.websocket


class Echo(tornado.websocket.WebSocketHandler):
    def open(self):
        self.set_nodelay(True)

    def on_message(self, message):
        self.write_message(message)


class Back(tornado.web.RequestHandler):
    def post(self):
        self.write(self.request.body)


application = tornado.web.Application([("/echo", Echo), ("/back", Back)])
application.listen(int(sys.argv[2]), address=sys.argv[1])
tornado.ioloop.IOLoop.current().start()
