"""`dtkb mcp` asked by the official Python SDK. usage: client.py DTKB LOG"""

import asyncio
import json
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client

try:
    from mcp import Client, MCPError
except ImportError:  # before version 2 of the SDK
    from mcp import McpError as MCPError

    Client = None

DTKB, LOG = sys.argv[1:]


def document(result):
    return json.loads(result.content[0].text)


async def expect_error(call, word):
    try:
        await call
    except MCPError as error:
        assert word in str(error), error
    else:
        raise AssertionError("no error that names %s" % word)


async def tools(session):
    listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert sorted(listed) == ["diagnose", "explain", "probe", "search", "show"], listed
    assert all(tool.description for tool in listed.values())
    with open(LOG, encoding="utf-8") as file:
        report = document(await session.call_tool("diagnose", {"log": file.read()}))
    assert report["verdict"] == "fault" and report["causes"], report["verdict"]
    assert document(await session.call_tool("diagnose", {"path": LOG}))["causes"][0]["id"] == report["causes"][0]["id"]
    card = document(await session.call_tool("explain", {"cause": report["causes"][0]["id"]}))
    assert card["id"] == report["causes"][0]["id"], card
    hits = document(await session.call_tool("search", {"query": "NCCL timeout", "limit": 3}))["hits"]
    assert 1 <= len(hits) <= 3, hits
    assert document(await session.call_tool("show", {"id": hits[0]["id"]}))["id"] == hits[0]["id"]
    assert document(await session.call_tool("probe", {"names": "host"}))["probes"][0]["name"] == "host"


async def resources(session):
    listed = sorted(str(resource.uri) for resource in (await session.list_resources()).resources)
    assert listed == ["dtkb://causes", "dtkb://taxonomy"], listed
    for uri in listed:
        text = (await session.read_resource(uri)).contents[0].text
        assert json.loads(text)["schema"] == "dtkb.%s/1" % uri.split("//")[1], text[:80]


async def errors(session):
    """What a tool can't do is a result that says so; what the protocol doesn't know is a protocol error. Neither ends the session."""
    for tool, arguments, word in (
        ("show", {"id": "no-such-issue"}, "no-such-issue"),
        ("explain", {}, "cause"),
        ("search", {"query": 7}, "query"),
        ("diagnose", {"path": "/no/such/file"}, "/no/such/file"),
        ("probe", {"names": "no-such-probe"}, "no-such-probe"),
    ):
        result = await session.call_tool(tool, arguments)
        failed = getattr(result, "is_error", None) or getattr(result, "isError", None)
        assert failed and word in result.content[0].text, result
    await expect_error(session.call_tool("no-such-tool", {}), "tool")
    await expect_error(session.read_resource("dtkb://no-such"), "resource")
    await expect_error(session.list_prompts(), "method")
    await session.send_ping()


async def session_with_sdk():
    async with stdio_client(StdioServerParameters(command=DTKB, args=["mcp"])) as (read, write):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            server = getattr(hello, "server_info", None) or hello.serverInfo
            assert server.name == "dtkb"
            await tools(session)
            await resources(session)
            await errors(session)


async def newest_client():
    """Version 2 of the SDK first asks for a newer revision of the protocol, and falls back on ours."""
    if Client:
        async with Client(StdioServerParameters(command=DTKB, args=["mcp"])) as client:
            await tools(client)


def malformed():
    """Below the SDK, which sends nothing malformed: each line is answered by one error, and the next request by its result."""
    ping = b'{"jsonrpc":"2.0","id":99,"method":"ping"}'
    lines = [
        b"not json", b"{", b"[]", b'"text"', b"17", b"null", b"\xff\xfe\x00", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":7}', b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}', b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":"x"}',
        b'{"a":' * 3000, b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 1000000 + b'"}',
    ]
    for line in lines:
        answers = subprocess.run([DTKB, "mcp"], input=line + b"\n" + ping + b"\n", capture_output=True, check=True, timeout=30).stdout.splitlines()
        first, last = (json.loads(answer) for answer in answers)
        assert first["error"]["code"] < 0 and first["error"]["message"], (line[:60], first)
        assert last == {"jsonrpc": "2.0", "id": 99, "result": {}}, (line[:60], last)


asyncio.run(asyncio.wait_for(session_with_sdk(), 60))
asyncio.run(asyncio.wait_for(newest_client(), 60))
malformed()
print("ok: tools, resources, errors, malformed requests")
