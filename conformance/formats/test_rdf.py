"""Graphs: rdflib reads what weir writes, weir reads what rdflib makes of it, in every syntax."""

import unittest

import rdflib
import rdflib.compare

from formats.weir import MESSAGE, Refused, decoded, encoded

ROWS = MESSAGE["observations"]


def rows(form, data):
    return decoded(data, form)["observations"]


SYNTAXES = {"turtle": "turtle", "ntriples": "nt", "jsonld": "json-ld"}
SOSA = rdflib.Namespace("http://www.w3.org/ns/sosa/")
QUDT = rdflib.Namespace("http://qudt.org/schema/qudt/")


def graph_of(form, data):
    return rdflib.Graph().parse(data=data, format=SYNTAXES[form])


class Graphs(unittest.TestCase):
    def test_three_syntaxes_are_one_graph(self):
        graphs = [graph_of(form, encoded(form)) for form in SYNTAXES]
        for graph in graphs:
            self.assertEqual(len(list(graph.subjects(rdflib.RDF.type, SOSA.Observation))), len(ROWS))
        # Numbers of JSON-LD are integers where they have no decimals; values are compared below.
        turtle, triples, _ = (rdflib.compare.to_canonical_graph(graph) for graph in graphs)
        self.assertEqual(set(turtle), set(triples))

    def test_units_and_results_are_where_qudt_and_sosa_have_them(self):
        graph = graph_of("turtle", encoded("turtle"))
        found = {
            (float(graph.value(result, QUDT.numericValue)), str(graph.value(unit, QUDT.ucumCode)))
            for result, unit in graph.subject_objects(QUDT.hasUnit)
        }
        numbers = [row for row in ROWS if isinstance(row["value"], float) and "unit" in row]
        wanted = {(row["value"], row["unit"]) for row in numbers}
        self.assertEqual(found, wanted)


def rounded(found):
    """rdflib writes doubles of Turtle with seven digits."""
    return [{**row, "value": float(f"{row['value']:.6e}")} if type(row["value"]) in (int, float) else row for row in found]


def through(form, other):
    """weir to rdflib in one syntax, rdflib to weir in another."""

    def test(self):
        graph = graph_of(form, encoded(form))
        again = graph.serialize(format=SYNTAXES[other], encoding="utf-8")
        found, sent = rows(other, again), ROWS
        if other == "turtle":
            found, sent = rounded(found), rounded(sent)
        self.assertCountEqual(found, sent)

    test.__doc__ = f"{form} read by rdflib, its {other} read by weir"
    return test


for form in SYNTAXES:
    for other in SYNTAXES:
        setattr(Graphs, f"test_{form}_comes_back_as_{other}", through(form, other))


class ForeignForms(unittest.TestCase):
    """Forms that weir does not write itself."""

    def test_a_base_and_relative_names(self):
        graph = rdflib.Graph()
        observation = rdflib.URIRef("http://example.org/observations/1")
        graph.add((observation, rdflib.RDF.type, SOSA.Observation))
        graph.add((observation, SOSA.hasSimpleResult, rdflib.Literal(5)))
        graph.add((observation, SOSA.madeBySensor, rdflib.URIRef("http://example.org/sensors/1")))
        data = graph.serialize(format="turtle", base="http://example.org/").encode()
        self.assertIn(b"@base", data)
        self.assertEqual(rows("turtle", data), [{"sensor": "http://example.org/sensors/1", "value": 5}])

    def test_long_strings(self):
        graph = rdflib.Graph()
        node = rdflib.BNode()
        graph.add((node, rdflib.RDF.type, SOSA.Observation))
        graph.add((node, SOSA.hasSimpleResult, rdflib.Literal('two\nlines and a "quote"\\')))
        data = graph.serialize(format="turtle", encoding="utf-8")
        self.assertIn(b'"""', data)
        self.assertEqual(rows("turtle", data), [{"value": 'two\nlines and a "quote"\\'}])

    def test_compacted_with_another_context(self):
        graph = graph_of("turtle", encoded("turtle"))
        context = {"s": str(SOSA), "q": str(QUDT), "@vocab": "urn:weir:"}
        data = graph.serialize(format="json-ld", context=context, auto_compact=True, encoding="utf-8")
        self.assertIn("s:Observation", data.decode())
        self.assertCountEqual(rows("jsonld", data), ROWS)

    def test_a_context_that_must_be_fetched_is_refused(self):
        with self.assertRaisesRegex(Refused, "none is fetched at byte 12"):
            rows("jsonld", '{"@context":"https://example.org/c"}')
