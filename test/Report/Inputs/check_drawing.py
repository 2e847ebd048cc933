#!/usr/bin/env python3
"""Opens a page of --spmd-report=format=html in a browser of 1400 pixels, and checks the drawings as the scripts of the page made
them: no sideways scrolling, edges as wide as their bytes, modules that open and fold, a search that finds a node and selects it.

    check_drawing.py PAGE.html NAME...    NAME: a node or a module that is shown; prints the numbers of boxes
"""
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

page, names = sys.argv[1], sys.argv[2:]
STEPS = """
const result = {}, drawing = document.querySelector('.drawing');
const count = () => drawing.querySelectorAll('.node').length;
result.shown = count();
result.before = [...drawing.querySelectorAll('[data-name]')].map(e => e.dataset.name);
result.edges = [...drawing.querySelectorAll('path')].map(e => [+e.dataset.bytes, parseFloat(getComputedStyle(e).strokeWidth)]);
drawing.querySelector('[title="open all modules"]').click();
result.opened = count();
result.all = [...drawing.querySelectorAll('[data-name]')].map(e => e.dataset.name);
drawing.querySelector('[title="fold all modules"]').click();
result.folded = count();
result.all.push(...[...drawing.querySelectorAll('[data-name]')].map(e => e.dataset.name));
const input = drawing.querySelector('input');
input.value = 'matmul';
input.dispatchEvent(new Event('input'));
result.found = drawing.querySelectorAll('aside button').length;
drawing.querySelector('aside button').click();
result.chosen = drawing.querySelectorAll('.chosen').length;
result.path = drawing.querySelectorAll('.node.from, .node.to').length;
result.panel = drawing.querySelector('aside').textContent;
const schedule = document.querySelector('.schedule');
if (schedule) {
  schedule.querySelector('g.forward').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  result.run = [schedule.querySelector('aside').textContent, schedule.querySelectorAll('.chosen').length];
}
result.overflow = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - window.innerWidth;
document.body.textContent = JSON.stringify(result);
"""
with tempfile.TemporaryDirectory() as folder:
    text = open(page, encoding="utf-8").read()
    with open(folder + "/page.html", "w", encoding="utf-8") as copy:
        copy.write(text.replace("</body>", "<script>" + STEPS + "</script></body>"))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + folder + "/profile",
               "--window-size=1400,2000", "--dump-dom", folder + "/page.html"]
    dump = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

import html
import json
body = re.search(r"<body>(.*)</body>", dump, re.S).group(1)
assert body.startswith("{"), "the scripts of the page ended early"
result = json.loads(html.unescape(body))
assert result["overflow"] <= 0, f"{result['overflow']} pixels do not fit"
most = max(size for size, _ in result["edges"])
for size, width in result["edges"]:
    assert abs(width - max(0.5, 12 * size / most)) < 0.02, (size, width, most)
assert len({width for _, width in result["edges"]}) > 1, "all edges are equally wide"
assert result["folded"] <= result["shown"] <= result["opened"], result
for name in names:
    assert name in result["before"] + result["all"], f"{name} is not drawn: {result['all']}"
assert result["found"] > 0 and result["chosen"] == 1 and result["path"] > 0, result
assert "matmul" in result["panel"] and "layout" in result["panel"], result["panel"]
if "run" in result:
    assert result["run"][0].startswith("stage0_forward, microbatch 0\nstage 0, clock 0") and result["run"][1] == 1, result["run"]
print(f"{result['folded']} boxes folded, {result['shown']} shown, {result['opened']} opened, {len(result['edges'])} edges")
