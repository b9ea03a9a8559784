"""The README's recipes parse, and name verbs, options and formats that exist. usage: recipes.py README DTKB"""

import json
import re
import subprocess
import sys

import yaml

README, DTKB = sys.argv[1:]
with open(README, encoding="utf-8") as file:
    text = file.read()
blocks = re.findall(r"^```(sh|yaml|python|json)\n(.*?)^```$", text, flags=re.M | re.S)
assert {kind for kind, _ in blocks} == {"sh", "yaml", "python", "json"}, "recipes are missing"


def known_options(verb):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", subprocess.run([DTKB, verb, "--help"], capture_output=True, text=True, check=True).stdout))


def commands(block):
    """Each dtkb command line in it, up to where another program's begins."""
    for line in re.findall(r"\bdtkb ((?:run|probe|diagnose|merge)\b[^;|>\n'\]]*)", re.sub(r"\[dtkb, (.*?)\]", lambda m: "dtkb " + m[1].replace(",", ""), block)):
        yield line.split(" -- ")[0].split()


for kind, block in blocks:
    if kind == "yaml":
        assert isinstance(yaml.safe_load(block), dict), block
    elif kind == "json":
        json.loads(block)
    elif kind == "python":
        compile(block, "README.md", "exec")
    else:
        subprocess.run(["bash", "-n"], input=block, text=True, check=True)
    for verb, *words in commands(block):
        unknown = {word for word in words if word.startswith("-")} - known_options(verb)
        assert not unknown, "dtkb %s has no %s" % (verb, unknown)
print("fine")
