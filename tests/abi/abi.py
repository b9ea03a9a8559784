"""The binary interface of libdtkb and of plugins, as one list: exported symbols, prototypes, constants, and where each member of each public
struct lies. Compared with the recorded list, engine/dtkb.abi.

usage: abi.py check|record SOURCE-FOLDER LIBRARY C-COMPILER
"""

import os
import re
import subprocess
import sys
import tempfile


def header_text(path):
    """Without comments, inline functions and preprocessor lines; the numeric macros apart."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    text = text.replace("\\\n", " ")
    constants = re.findall(r"^#define (DTKB_[A-Z0-9_]+) +(\(?\d[^\n]*)$", text, flags=re.M)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    text = re.sub(r"static inline [^{;]*\{.*?\n\}", "", text, flags=re.S)
    return text, [name for name, value in constants if not name.startswith("DTKB_VERSION")]


def words(text):
    return " ".join(text.split())


def member_name(declaration):
    pointer = re.search(r"\(\*(\w+)\)", declaration)
    return pointer.group(1) if pointer else re.search(r"(\w+)\s*(\[[^]]*\])?$", declaration).group(1)


def structs(text):
    """(type, member, its declaration) of every struct and union with a body."""
    for kind, tag, body, alias in re.findall(r"\b(struct|union) (\w+)\s*\{(.*?)\}\s*(\w*);", text, flags=re.S):
        for declaration in filter(None, (words(part) for part in body.split(";"))):
            yield alias or "%s %s" % (kind, tag), member_name(declaration), declaration


def enumerators(text):
    for body in re.findall(r"\benum \w+\s*\{(.*?)\}", text, flags=re.S):
        yield from re.findall(r"\b(DTKB_\w+)\s*=", body)


def prototypes(text):
    for declaration in re.findall(r"\bDTKB_API ([^;]*);", text):
        yield words(declaration)
    for declaration in re.findall(r"\btypedef ([^;{}]*\(\*\w+\)\([^;]*\));", text):
        yield "typedef " + words(declaration)


def measured(source, compiler, headers):
    """Sizes, offsets and values as this compiler sees them."""
    program, seen = ["#include <stdio.h>", "#include <dtkb/dtkb.h>", "#include <dtkb/plugin.h>", "int main(void)", "{"], set()
    for text, constants in headers:
        for kind, member, declaration in structs(text):
            if kind not in seen:
                seen.add(kind)
                program.append('    printf("size %%zu %s\\n", sizeof(%s));' % (kind, kind))
            quoted = declaration.replace('"', '\\"')
            program.append(
                '    printf("member %s.%s at %%zu, %%zu bytes: %s\\n", offsetof(%s, %s), sizeof((*(%s *)0).%s));'
                % (kind, member, quoted, kind, member, kind, member)
            )
        for name in list(enumerators(text)) + constants:
            program.append('    printf("constant %s %%llu\\n", (unsigned long long)%s);' % (name, name))
    program.append("    return 0;\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(program))
        subprocess.run([compiler, "-std=c11", "-I" + os.path.join(source, "engine/include"), path, "-o", path + ".out"], check=True)
        return subprocess.run([path + ".out"], check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        name = line.split()[-1]
        if name.startswith("dtkb_"):
            yield "symbol " + name


def soname(library):
    text = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return "soname " + re.search(r"\[(libdtkb\.so\.\d+)\]", text).group(1)


def interface(source, library, compiler):
    headers = [header_text(os.path.join(source, "engine/include/dtkb", name)) for name in ("dtkb.h", "plugin.h")]
    lines = [soname(library)] + sorted(symbols(library))
    lines += ["prototype " + text for header, _ in headers for text in prototypes(header)]
    return lines + measured(source, compiler, headers)


def main():
    action, source, library, compiler = sys.argv[1:]
    record = os.path.join(source, "engine/dtkb.abi")
    now = interface(source, library, compiler)
    if action == "record":
        with open(record, "w", encoding="utf-8") as file:
            file.write("\n".join(now) + "\n")
        return 0
    with open(record, encoding="utf-8") as file:
        before = file.read().splitlines()
    gone = [line for line in before if line not in set(now)]
    new = [line for line in now if line not in set(before)]
    for line in gone:
        print("- " + line)
    for line in new:
        print("+ " + line)
    if gone or new:
        print("\nThe binary interface is not the recorded one. tests/abi/README.md says which changes are allowed and how to accept one.")
        return 1
    print("%d lines of interface unchanged" % len(now))
    return 0


sys.exit(main())
