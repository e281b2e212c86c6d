"""An agent of LangGraph that has all that contextd offers, and so the tools of every upstream.

It needs the packages langchain, langgraph and langchain-mcp-adapters.
"""

from typing import Any

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient


async def converse(model: Any, question: str, address: str = "http://localhost:8080/mcp") -> Any:
    """All messages of the conversation; `model` is a chat model, or the name of one."""
    contextd = {"transport": "streamable_http", "url": address}
    client = MultiServerMCPClient({"contextd": contextd})
    agent = create_agent(model, await client.get_tools())
    outcome = await agent.ainvoke({"messages": [{"role": "user", "content": question}]})
    return outcome["messages"]
