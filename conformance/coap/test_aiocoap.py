"""aiocoap: three transports, tags, blocks both ways, observation, preconditions."""

import asyncio
import importlib.util
import unittest

from skips import skip

from . import server


class Aiocoap(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        if importlib.util.find_spec("aiocoap") is None:
            skip(cls("test_values_tags_and_formats_over_every_transport"), "no aiocoap")
        server.start(cls)

    async def asyncSetUp(self):
        from aiocoap import Context

        self.context = await Context.create_client_context()
        self.addAsyncCleanup(self.context.shutdown)
        self.topic = "aiocoap/" + self._testMethodName

    async def ask(self, code, url, **options):
        from aiocoap import Message

        message = Message(code=code, uri=url, **options)
        return await asyncio.wait_for(self.context.request(message).response, 30)

    def urls(self):
        return (self.url, self.tcp_url, self.ws_url)

    async def test_values_tags_and_formats_over_every_transport(self):
        from aiocoap import GET, POST

        for url in self.urls():
            live = f"{url}/live/{self.topic}"
            posted = await self.ask(POST, live, payload=b"21.5", content_format=0)
            self.assertTrue(posted.code.is_successful())
            got = await self.ask(GET, live, accept=0)
            self.assertEqual((got.payload.strip(), got.opt.content_format), (b"21.5", 0))
            valid = await self.ask(GET, live, etags=[got.opt.etag])
            self.assertEqual((valid.code.dotted, valid.payload), ("2.03", b""))
            self.assertEqual(valid.opt.etag, got.opt.etag)

    async def test_a_publication_with_options_of_a_read_is_no_read(self):
        from aiocoap import GET, POST

        for url in self.urls():
            live = f"{url}/live/{self.topic}"
            for body in (b"1.5", b"2.5"):
                posted = await self.ask(POST, live, payload=body, content_format=0)
                self.assertEqual(posted.code.dotted, "2.04")
                # node-coap says a Content-Format when it reads, too.
                for _ in range(2):
                    got = await self.ask(GET, live, content_format=0)
                    self.assertIn(body, got.payload)

    async def test_large_bodies_over_every_transport(self):
        from aiocoap import GET, PUT

        body = bytes(range(256)) * 40
        for url in self.urls():
            await self.ask(PUT, f"{url}/large-update", payload=body)
            got = await self.ask(GET, f"{url}/large-update")
            self.assertEqual(got.payload, body)

    async def test_a_large_request_with_a_large_answer(self):
        from aiocoap import POST

        for url in self.urls():
            got = await self.ask(POST, f"{url}/large-post", payload=b"abc" * 1000)
            self.assertEqual((got.code.dotted, got.payload), ("2.04", b"ABC" * 1000))

    async def test_observing_over_every_transport(self):
        from aiocoap import GET, Message

        for url in self.urls():
            self.gateway.publish_value(self.topic, 0)
            message = Message(code=GET, uri=f"{url}/live/{self.topic}", observe=0, accept=0)
            request = self.context.request(message)
            first = await asyncio.wait_for(request.response, 30)
            self.assertIsNotNone(first.opt.observe)
            notifications = aiter(request.observation)
            for value in (81, 82):
                await asyncio.to_thread(self.gateway.publish_value, self.topic, value)
                told = await asyncio.wait_for(anext(notifications), 30)
                self.assertEqual(told.payload.strip(), str(value).encode())
            request.observation.cancel()

    async def test_preconditions(self):
        from aiocoap import DELETE, GET, PUT

        validate = f"{self.url}/validate"
        tag = (await self.ask(GET, validate)).opt.etag
        changed = await self.ask(PUT, validate, if_match=[tag], payload=b"new")
        failed = await self.ask(PUT, validate, if_match=[tag], payload=b"newer")
        self.assertEqual((changed.code.dotted, failed.code.dotted), ("2.04", "4.12"))
        create = f"{self.url}/create1"
        await self.ask(DELETE, create)
        codes = [(await self.ask(PUT, create, if_none_match=True, payload=b"x")).code.dotted for _ in range(2)]
        self.assertEqual(codes, ["2.01", "4.12"])

    async def test_what_is_created_says_where(self):
        from aiocoap import GET, POST

        created = await self.ask(POST, f"{self.url}/large-create", payload=b"y" * 3000)
        self.assertEqual((created.code.dotted, created.opt.location_path[0]), ("2.01", "large-create"))
        place = "/".join(created.opt.location_path)
        self.assertEqual((await self.ask(GET, f"{self.url}/{place}")).payload, b"y" * 3000)
        queried = await self.ask(POST, f"{self.url}/location-query")
        self.assertEqual(queried.opt.location_query, ("first=1", "second=2"))
