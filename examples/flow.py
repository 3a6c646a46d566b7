"""The end-to-end flow of the design note, section 18: semantic graph to streaming regions to dump."""

from mcir import build_attention_semantic_graph, dump_module, run_attention_pattern_pass, run_streaming_lowering_pass

semantic_graph = build_attention_semantic_graph()

module = run_attention_pattern_pass(semantic_graph)
module = run_streaming_lowering_pass(module)

print(dump_module(module), end="")
