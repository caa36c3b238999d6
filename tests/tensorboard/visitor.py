"""Looks at TensorBoard's graph page, in the Python of TensorBoard's environment.

python visitor.py LOGDIR TAG NODE CHROMIUM FOLDER: chooses a traced step, colours nodes
by what they took, clicks on one. JSON on standard output: the texts of the page.
"""

import json
import re
import subprocess
import sys

from playwright.sync_api import sync_playwright

PATIENCE_MS = 120_000
# All texts, those inside of components too.
TEXTS = """() => {
  const texts = [];
  const walk = (root) => {
    for (const node of root.childNodes) {
      if (node.nodeType === Node.TEXT_NODE && node.data.trim())
        texts.push(node.data.trim().replace(/\\s+/g, " "));
      if (node.nodeName === "STYLE" || node.nodeName === "SCRIPT") continue;
      if (node.shadowRoot) walk(node.shadowRoot);
      walk(node);
    }
  };
  walk(document.body);
  return texts;
}"""


def visit(page, address, tag, node, folder):
    """The texts when nodes have the colours of their times, and of their memory."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}#graphs")
    page.get_by_text("Main Graph").wait_for()
    page.locator("paper-dropdown-menu:visible").nth(1).click()
    page.get_by_role("option", name=tag).click()
    seen = {}
    for colours in ("compute-time", "memory"):
        button = page.locator(f"#{colours}-radio-button:not([disabled])")
        button.wait_for()
        button.click()
        page.locator(f"#{colours}-radio-button[aria-checked=true]").wait_for()
        page.locator(f"g.node[data-name='{node}']").first.click()
        page.locator("tf-node-info:visible").first.wait_for()
        page.screenshot(path=f"{folder}/tensorboard-{colours}.png")
        seen[colours] = page.evaluate(TEXTS)
    return seen


def main(logdir, tag, node, chromium, folder):
    board = [sys.executable, "-m", "tensorboard.main", "--logdir", logdir]
    server = subprocess.Popen(
        [*board, "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        addresses = (re.search(r"at (http://\S+)", line) for line in server.stderr)
        address = next(found[1] for found in addresses if found)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            print(json.dumps(visit(page, address, tag, node, folder)))
            browser.close()
    finally:
        server.kill()
        server.communicate()


if __name__ == "__main__":
    main(*sys.argv[1:])
