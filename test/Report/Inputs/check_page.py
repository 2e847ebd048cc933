#!/usr/bin/env python3
"""Checks a page of --spmd-report=format=html: well-formed as HTML and as XML, nothing from outside, and every collective of the
JSON report of the same module in its table and, unless stretches are folded, in the drawing.

    check_page.py PAGE.html REPORT.json [--most-bytes N] [--folded]
"""
import argparse
import html.parser
import json
import re
import sys
import xml.etree.ElementTree as ET

parser = argparse.ArgumentParser()
parser.add_argument("page")
parser.add_argument("report")
parser.add_argument("--most-bytes", type=int, default=1 << 62)
parser.add_argument("--folded", action="store_true")
args = parser.parse_args()
text = open(args.page, encoding="utf-8").read()
report = json.load(open(args.report, encoding="utf-8"))


class Tags(html.parser.HTMLParser):
    """Every tag that is opened is closed, in order."""
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.attributes += attrs

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes nothing"


tags = Tags()
tags.feed(text)
tags.close()
assert not tags.open, f"left open: {tags.open}"
root = ET.fromstring(text)

for name, value in tags.attributes:
    assert name not in ("src", "srcset", "data", "action"), f"{name}={value}"
    assert name != "href" or value.startswith("#"), f"href={value}"
namespace = "'http://www.w3.org/2000/svg'"  # a name, not an address
assert not re.search(r"https?:|//[a-z]|@import|url\(|fetch\(|<link|<iframe", text.replace(namespace, "")), "something from outside"
assert len(text) <= args.most_bytes, f"{len(text)} bytes"

rows = {row.get("id"): [cell.text or "" for cell in row] for row in root.iter("tr") if row.get("id")}
assert len(rows) == len(report["collectives"]), f"{len(rows)} rows"
for i, c in enumerate(report["collectives"]):
    row = rows[f"c{i}"]
    assert row[0] == str(c["id"]) and row[1].split()[0] == c["kind"], row
    assert row[2] == ",".join(c["axes"]) and int(row[3].replace(",", "")) == c["bytes"], row
graphs = [json.loads(data.text) for data in root.iter("script") if data.get("type") == "application/json"]
nodes = [node for graph in graphs for node in graph["nodes"]]
drawn = [node["row"] for node in nodes if node["row"]]
assert set(drawn) <= set(rows)
assert args.folded or len(drawn) == len(rows), f"{len(drawn)} drawn"
for function in report["functions"]:
    assert any(h.text == "@" + function["name"] for h in root.iter("h2")), function["name"]
for graph in graphs:
    for node in graph["nodes"]:
        assert node["name"] and node["name"] != "generic" and node["details"], node
        assert all(grid < len(graph["grids"]) for grid in node["grids"])
    for source, target, size, value in graph["edges"]:
        assert source < len(graph["nodes"]) and target < len(graph["nodes"]) and size >= 0
print(f"{len(rows)} collectives, {len(nodes)} nodes, {sum(len(graph['edges']) for graph in graphs)} edges")
