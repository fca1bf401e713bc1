"""Does one thing with `acor mcp` as a Python client, and prints the answer as JSON: mcp_client.py LIBRARY PROGRAM REQUEST."""

import asyncio
import json
import os
import sys

library, program, request = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Official:
    def __init__(self):
        from mcp import Client, StdioServerParameters
        from mcp_types import ElicitResult

        async def fill_in(context, params):
            return ElicitResult(action="accept", content=request["form"])

        forms = {"elicitation_callback": fill_in} if "form" in request else {}
        server = StdioServerParameters(command=program, args=["mcp"], env=dict(os.environ))
        self.client = Client(server, mode=request.get("mode", "auto"), **forms)

    async def list(self, what):
        return getattr(await getattr(self.client, f"list_{what}")(), what)

    async def call(self, tool, given, timeout):
        return await self.client.call_tool(tool, given, read_timeout_seconds=timeout)


class FastMcp:
    def __init__(self):
        from fastmcp import Client
        from fastmcp.client.elicitation import ElicitResult
        from fastmcp.client.transports import StdioTransport

        async def fill_in(message, response_type, params, context):
            return ElicitResult(action="accept", content=request["form"])

        forms = {"elicitation_handler": fill_in} if "form" in request else {}
        transport = StdioTransport(program, ["mcp"], env=dict(os.environ), keep_alive=False)
        self.client = Client(transport, **forms)

    async def list(self, what):
        return await getattr(self.client, f"list_{what}")()

    async def call(self, tool, given, timeout):
        return await self.client.call_tool_mcp(tool, given, timeout=timeout)


async def main():
    mine = FastMcp() if library == "fastmcp" else Official()
    async with mine.client:
        if "list" in request:
            print(json.dumps([plain(each) for each in await mine.list(request["list"])]))
            return
        try:
            print(json.dumps(plain(await mine.call(request["tool"], request["given"], request.get("timeout")))))
        except Exception as error:
            print(json.dumps({"exception": f"{type(error).__name__}: {error}"}))


asyncio.run(main())
