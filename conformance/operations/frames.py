"""Answers as Grafana's own library reads them."""

import json
import pathlib
import subprocess

from gateway import ROOT

READ = """
import { createRequire } from 'node:module'
const { toDataFrame } = createRequire(process.argv[1] + '/')('@grafana/data')
const answer = JSON.parse(await new Response(process.stdin).text())
const field = (it) => ({ name: it.name, type: it.type, values: [...it.values] })
console.log(JSON.stringify(answer.map(toDataFrame).map((frame) => ({ fields: frame.fields.map(field) }))))
"""


class Frames:
    LIBRARY = pathlib.Path(ROOT) / "build/grafana-data/node_modules/@grafana/data"

    @classmethod
    def of(cls, answer):
        command = ["node", "--input-type=module", "-e", READ, str(cls.LIBRARY.parent.parent.parent)]
        done = subprocess.run(command, input=json.dumps(answer), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
