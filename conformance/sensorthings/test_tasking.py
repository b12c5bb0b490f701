"""Tasks drive whoever listens: Mosquitto's subscriber and an observer of aiocoap."""

import asyncio
import importlib.util
import json
import shutil
import unittest

from gateway import Gateway
from skips import skip

WAIT_S = 30
LAMP = {
    "name": "Hall",
    "description": "at the door",
    "TaskingCapabilities": [
        {
            "name": "Control Light",
            "description": "on, off and how bright",
            "taskingParameters": {
                "type": "DataRecord",
                "field": [
                    {"name": "status", "type": "Category",
                     "constraint": {"type": "AllowedTokens", "value": ["on", "off"]}},
                    {"name": "level", "type": "Quantity", "uom": {"code": "%"},
                     "constraint": {"type": "AllowedValues", "interval": [[0, 100]]}},
                ],
            },
            "Actuator": {"name": "Lamp", "description": "LED", "encodingType": "text/html", "metadata": "x"},
        }
    ],
}
TASK = {"status": "on", "level": 40}


class Tasking(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.post("Things", LAMP)
        found = json.loads(self.gateway.request("GET", "/sta/v1.1/TaskingCapabilities")[2])
        self.capability = found["value"][0]["@iot.id"]

    def post(self, path, body):
        headers = {"Content-Type": "application/json"}
        status, _, said = self.gateway.request("POST", f"/sta/v1.1/{path}", json.dumps(body), headers)
        self.assertEqual(status, 201, said)

    async def task(self, parameters):
        body = {"taskingParameters": parameters, "TaskingCapability": {"@iot.id": self.capability}}
        await asyncio.to_thread(self.post, "Tasks", body)

    def broker(self):
        host, port = self.gateway.ready["mqtt"].rsplit(":", 1)
        return "-h", host, "-p", port

    async def subscriber(self, *topics):
        command = ["stdbuf", "-oL", "mosquitto_sub", *self.broker(), "-d", *topics]
        client = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        self.addAsyncCleanup(client.wait)
        self.addCleanup(client.kill)
        while b"SUBACK" not in await asyncio.wait_for(client.stdout.readline(), WAIT_S):
            pass
        return client

    async def message(self, client):
        """The next payload that is JSON; the client tells of packets, too."""
        while True:
            line = await asyncio.wait_for(client.stdout.readline(), WAIT_S)
            if line.startswith(b"{"):
                return line

    # [TASKING-4-2]
    async def test_mosquitto_gets_the_task_as_it_was_said(self):
        if shutil.which("mosquitto_sub") is None:
            skip(self, "no mosquitto_sub")
        actuator = await self.subscriber("-t", "hall/control-light")
        await self.task(TASK)
        self.assertEqual(json.loads(await self.message(actuator)), TASK)

    # [TASKING-4-4] [TASKING-4-5]
    async def test_mosquitto_creates_a_task_and_is_told_of_it(self):
        if shutil.which("mosquitto_sub") is None:
            skip(self, "no mosquitto_sub")
        told = await self.subscriber("-t", f"v1.1/TaskingCapabilities({self.capability})/Tasks", "-t", "v1.1/Tasks")
        body = {"taskingParameters": TASK, "TaskingCapability": {"@iot.id": self.capability}}
        publisher = await asyncio.create_subprocess_exec(
            "mosquitto_pub", *self.broker(), "-q", "1", "-t", "v1.1/Tasks", "-m", json.dumps(body)
        )
        self.assertEqual(await asyncio.wait_for(publisher.wait(), WAIT_S), 0)
        for _ in range(2):
            self.assertEqual(json.loads(await self.message(told))["taskingParameters"], TASK)
        found = json.loads(self.gateway.request("GET", "/sta/v1.1/Tasks")[2])
        self.assertEqual([task["taskingParameters"] for task in found["value"]], [TASK])

    # [TASKING-4-3]
    async def test_an_observer_of_aiocoap_gets_the_task(self):
        if importlib.util.find_spec("aiocoap") is None:
            skip(self, "no aiocoap")
        from aiocoap import GET, Context, Message

        await self.task({"status": "off", "level": 0})
        context = await Context.create_client_context()
        self.addAsyncCleanup(context.shutdown)
        url = f"coap://{self.gateway.ready['coap']}/live/hall/control-light/%23"
        request = context.request(Message(code=GET, uri=url, observe=0, accept=50))
        await asyncio.wait_for(request.response, WAIT_S)
        notifications = aiter(request.observation)
        await self.task(TASK)
        told = json.loads((await asyncio.wait_for(anext(notifications), WAIT_S)).payload)
        values = {row["topic"].rpartition("/")[2]: row["value"] for row in told["observations"]}
        self.assertEqual(values, TASK)
        request.observation.cancel()
