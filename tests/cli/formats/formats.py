"""SARIF and JUnit files by the rules of their formats. usage: formats.py FILE.sarif|FILE.xml..."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as tree

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))


def sarif(path):
    with open(path, encoding="utf-8") as file:
        log = json.load(file)
    with open(os.path.join(HERE, "sarif.schema.json"), encoding="utf-8") as file:
        jsonschema.Draft7Validator(json.load(file)).validate(log)
    for run in log["runs"]:
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert len(rules) == len(set(rules)), "two rules of one id: %s" % rules
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"], result["ruleId"]
            ids = [location["id"] for location in result["relatedLocations"]]
            assert len(ids) == len(set(ids)), "two related locations of one id"


def junit(path):
    subprocess.run(["xmllint", "--nonet", "--noout", "--schema", os.path.join(HERE, "junit.xsd"), path], check=True, stderr=subprocess.PIPE)
    for suite in tree.parse(path).getroot():
        cases = list(suite)
        for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            counted = sum(case.find(element) is not None for case in cases)
            assert int(suite.get(attribute)) == counted, "%s=%s, but %d" % (attribute, suite.get(attribute), counted)
        assert int(suite.get("tests")) == len(cases)
        names = [(case.get("classname"), case.get("name")) for case in cases]
        assert len(names) == len(set(names)), "two test cases of one name"


for name in sys.argv[1:]:
    try:
        (sarif if name.endswith(".sarif") else junit)(name)
    except (AssertionError, jsonschema.ValidationError, subprocess.CalledProcessError) as problem:
        detail = problem.stderr.decode() if isinstance(problem, subprocess.CalledProcessError) else str(problem)
        sys.exit("%s: %s" % (name, detail))
