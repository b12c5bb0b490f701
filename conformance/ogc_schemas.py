"""OGC's schemas, from the archive that scripts/peers puts there (org.jvnet.ogc:ogc-schemas)."""

import functools
import pathlib
import zipfile

import xmlschema

import skips

JAR = pathlib.Path(__file__).resolve().parent.parent / "build/java/ogc-schemas-2.6.1.jar"
"""All of OGC's schemas and examples."""
WEB = "http://schemas.opengis.net/"
IMPORTS = """<schema xmlns="http://www.w3.org/2001/XMLSchema">{}</schema>"""


def archive(test):
    """The archive, opened; the test is skipped where it is not there."""
    if not JAR.exists():
        skips.skip(test, "OGC's schemas are absent: scripts/peers fetches org.jvnet.ogc:ogc-schemas by Maven")
    return zipfile.ZipFile(JAR)


@functools.cache
def schema(*imports):
    """Schemas with all that they import, from the archive instead of the Web."""
    folder = JAR.parent / "ogc-schemas"
    if not folder.exists():
        with zipfile.ZipFile(JAR) as jar:
            jar.extractall(folder, [name for name in jar.namelist() if name.startswith("ogc/")])

    def local(url):
        return url.replace(WEB, f"{(folder / 'ogc').as_uri()}/") if url.startswith(WEB) else url

    text = "".join(f'<import namespace="{uri}" schemaLocation="{WEB}{path}"/>' for uri, path in imports)
    # SensorML 1.0.1, which O&M 1.0 imports, has restrictions that are none; instances are checked all the same.
    return xmlschema.XMLSchema(IMPORTS.format(text), uri_mapper=local, validation="lax", loglevel="CRITICAL")
