"""An HTTP server that sends every POST back, on Tornado; by arguments: an address, a port."""
import sys

import tornado.ioloop
import tornado.web


class Echo(tornado.web.RequestHandler):
    def post(self):
        self.set_header("Content-Type", "application/x-protobuf")
        self.write(self.request.body)


application = tornado.web.Application([("/service", Echo)])
application.listen(int(sys.argv[2]), address=sys.argv[1])
tornado.ioloop.IOLoop.current().start()
