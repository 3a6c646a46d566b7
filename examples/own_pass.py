"""A pass of one's own: a dataclass whose fields are its options. It runs like the built-in ones, from Python or as

    mcir-opt --load-pass-plugin=examples/own_pass.py in.mcir --drop-identities --statistics

It drops `identity` nodes. Passes keep graphs as they are unless they say otherwise, as this one does.
"""

from dataclasses import dataclass
from typing import ClassVar

from mcir import MCIRPassManager, MCModule, Rewriter, parse_module, print_module
from mcir.passes import ModulePass, Statistic, register_pass

TEXT = """
graph @g(%x: tensor<4x8xfp32>) {
  %same = identity %x : tensor<4x8xfp32>
  %y = exp %same : tensor<4x8xfp32>  // kept, with this comment
  return %y
}
"""


@register_pass
@dataclass
class DropIdentities(ModulePass):
    """`%y = identity %x; exp %y` → `exp %x`."""

    name: ClassVar[str] = "drop-identities"
    summary: ClassVar[str] = "uses the operand of identity nodes in place of their result"
    changes_graphs: ClassVar[bool] = True

    # an option is a field: `most: int = option(8, "drops no more than so many")`, with `option` of mcir.passes
    dropped = Statistic("identity nodes dropped")

    def run(self, module: MCModule) -> MCModule:
        for graph in module.graphs:
            # from a value to its node: graph.producers().get(value.name), None for an input; value.producer is a name
            rewriter = Rewriter(graph)
            for node in [node for node in graph.nodes if node.op == "identity"]:
                rewriter.replace_all_uses(node.outputs[0], node.inputs[0])
                rewriter.erase(node)
                self.dropped += 1
        return module


if __name__ == "__main__":
    module = MCIRPassManager([DropIdentities()]).run(parse_module(TEXT))
    print(print_module(module), end="")
