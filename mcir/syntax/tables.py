"""Made from grammar/mcir.lark by `python -m mcir.syntax.generate`. Do not edit."""

# fmt: off
GRAMMAR = ('// The MCIR language: the one definition of its syntax.\n'
 '//\n'
 '// LALR(1) with the contextual lexer and no conflicts. The parser (mcir/parser.py) has one action\n'
 '// per rule below. `LANGUAGE.md` beside this file explains the language to people.\n'
 '//\n'
 '//   type        a tensor type alone, also a second start symbol\n'
 '//   attr_dict   an attribute dictionary alone, also a start symbol\n'
 '\n'
 'start: item*\n'
 '\n'
 'item: graph | region\n'
 '\n'
 'graph: graph_head "{" node* return_ RBRACE\n'
 'graph_head: GRAPH SYMBOL "(" params ")" attributes\n'
 'return_: RETURN operands\n'
 '\n'
 'region: region_head "{" (node | region)* RBRACE\n'
 'region_head: REGION_KIND SYMBOL signature attributes\n'
 'signature: ["(" params ")" ["->" "(" params ")"]]\n'
 '\n'
 'params: (param ("," param)*)?\n'
 'param: VALUE ":" type\n'
 '\n'
 'attributes: ("attributes" attr_dict)?\n'
 '\n'
 '// %r1, %r2 = op @name %a, %b {key = value} : type, type\n'
 'node: results op node_name operands node_attrs node_types\n'
 'results: RESULTS?\n'
 'op: OP_NAME | STRING\n'
 'node_name: SYMBOL?\n'
 'operands: (VALUE ("," VALUE)*)?\n'
 'node_attrs: attr_dict?\n'
 'node_types: (":" type ("," type)*)?\n'
 '\n'
 '// tensor<(batch)x8x?x64xfp16, shared>\n'
 'type: _TENSOR DIM* DTYPE residency ">"\n'
 'residency: ("," RESIDENCY)?\n'
 '\n'
 'attr_dict: LBRACE (entry ("," entry)*)? "}"\n'
 'entry: key "=" value\n'
 'key: KEY | STRING\n'
 'value: TRUE -> true\n'
 '     | FALSE -> false\n'
 '     | INT -> integer\n'
 '     | FLOAT -> floating\n'
 '     | STRING -> string\n'
 '     | SYMBOL -> symbol\n'
 '     | list\n'
 '     | attr_dict\n'
 '     | type\n'
 'list: LSQB (value ("," value)*)? "]"\n'
 '\n'
 '// Keywords end where no name goes on, so `graphs` is not `graph` followed by `s`.\n'
 'GRAPH.2: /graph(?![A-Za-z0-9_.$])/\n'
 'REGION_KIND.2: /(?:execution|streaming|tile)(?![A-Za-z0-9_.$])/\n'
 'RETURN.2: /return(?![A-Za-z0-9_.$])/\n'
 'TRUE.2: /true(?![A-Za-z0-9_.$])/\n'
 'FALSE.2: /false(?![A-Za-z0-9_.$])/\n'
 '\n'
 '// A name is plain, or any string in quotes: %x, %"a/b c", @f, @"f-1".\n'
 '// A quoted string matches in linear time also where its closing quote is missing.\n'
 'VALUE: /%(?:[A-Za-z0-9_.$]+|"[^"\\\\\\r\\n]*(?:\\\\[^\\r\\n][^"\\\\\\r\\n]*)*")/\n'
 'SYMBOL: /@(?:[A-Za-z0-9_.$]+|"[^"\\\\\\r\\n]*(?:\\\\[^\\r\\n][^"\\\\\\r\\n]*)*")/\n'
 'STRING: /"[^"\\\\\\r\\n]*(?:\\\\[^\\r\\n][^"\\\\\\r\\n]*)*"/\n'
 '\n'
 '// The whole result list with its `=` is one token. That tells the results that begin a line from\n'
 '// the operands of the node before it, which may have neither operands, attributes nor results.\n'
 'RESULTS.3: /%(?:[A-Za-z0-9_.$]+|"[^"\\\\\\r\\n]*(?:\\\\[^\\r\\n][^"\\\\\\r\\n]*)*")(?:(?:[ '
 '\\t\\r\\n]|\\/\\/[^\\r\\n]*[\\r\\n])*,(?:[ '
 '\\t\\r\\n]|\\/\\/[^\\r\\n]*[\\r\\n])*%(?:[A-Za-z0-9_.$]+|"[^"\\\\\\r\\n]*(?:\\\\[^\\r\\n][^"\\\\\\r\\n]*)*"))*(?:[ '
 '\\t\\r\\n]|\\/\\/[^\\r\\n]*[\\r\\n])*=/\n'
 '\n'
 'OP_NAME: /[A-Za-z_][A-Za-z0-9_.$]*/\n'
 'KEY: /[A-Za-z_][A-Za-z0-9_.$]*/\n'
 '\n'
 '// A dimension with the `x` behind it: 128x, ?x, (seq)x, ("s0 + 1")x.\n'
 'DIM: /(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\\r\\n]*(?:\\\\[^\\r\\n][^"\\\\\\r\\n]*)*")\\))x/\n'
 'DTYPE: /[A-Za-z][A-Za-z0-9_]*/\n'
 'RESIDENCY: /[A-Za-z]+/\n'
 '\n'
 'FLOAT.2: /-?(?:(?:[0-9]+\\.[0-9]*(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)|inf|nan)(?![A-Za-z0-9_.$])/\n'
 'INT: /-?(?:0x[0-9a-fA-F]+|[0-9]+)(?![A-Za-z0-9_.$])/\n'
 '\n'
 'LBRACE: "{"\n'
 'RBRACE: "}"\n'
 'LSQB: "["\n'
 '_TENSOR: "tensor<"\n'
 '\n'
 'COMMENT: /\\/\\/[^\\r\\n]*/\n'
 'WHITESPACE: /[ \\t\\r\\n]+/\n'
 '%ignore COMMENT\n'
 '%ignore WHITESPACE\n')
PLAIN = ('[ \\t\\r\\n]*+%((?:[A-Za-z0-9_.$]++|"[^"\\\\\\r\\n]*+")(?:, %(?:[A-Za-z0-9_.$]++|"[^"\\\\\\r\\n]*+"))*+) = '
 '([A-Za-z_][A-Za-z0-9_.$]*+|"[^"\\\\\\r\\n]*+")(?: @((?:[A-Za-z0-9_.$]++|"[^"\\\\\\r\\n]*+")))?+(?: '
 '%((?:[A-Za-z0-9_.$]++|"[^"\\\\\\r\\n]*+")(?:, %(?:[A-Za-z0-9_.$]++|"[^"\\\\\\r\\n]*+"))*+))?+(?: '
 '(\\{(?:[^{}"/\\r\\n]++|"[^"\\\\\\r\\n]*+")*+\\}))?+ (: tensor<[^<>"/\\r\\n]*+>(?:, '
 'tensor<[^<>"/\\r\\n]*+>)*+)(?![ \\t\\r\\n]*+,)|')
NODE = ('[ '
 '\\t\\r\\n]*+(?!graph(?![A-Za-z0-9_.$])|(?:execution|streaming|tile)(?![A-Za-z0-9_.$])|return(?![A-Za-z0-9_.$]))((?>(?>%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")(?:(?:[ \t\r\n'
 ']|\\/\\/[^\r\n'
 ']*[\r\n'
 '])*,(?:[ \t\r\n'
 ']|\\/\\/[^\r\n'
 ']*[\r\n'
 '])*%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*(?:[ \t\r\n'
 ']|\\/\\/[^\r\n'
 ']*[\r\n'
 '])*=)|))[ \\t\\r\\n]*+((?>(?>[A-Za-z_][A-Za-z0-9_.$]*)|(?>"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")))[ \\t\\r\\n]*+((?>(?>@(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))|))[ \\t\\r\\n]*+((?!%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")(?:(?:[ \t\r\n'
 ']|\\/\\/[^\r\n'
 ']*[\r\n'
 '])*,(?:[ \t\r\n'
 ']|\\/\\/[^\r\n'
 ']*[\r\n'
 '])*%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*(?:[ \t\r\n'
 ']|\\/\\/[^\r\n'
 ']*[\r\n'
 '])*=)(?>(?>%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))[ \\t\\r\\n]*+(?>(?>,)[ \\t\\r\\n]*+(?>%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")))(?:[ \\t\\r\\n]*+(?>(?>,)[ \\t\\r\\n]*+(?>%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))))*+|(?>%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))|)|)[ \\t\\r\\n]*+((?>(?>\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\])*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\])*+\\])*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\])*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\])*+\\])*+\\])*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\])*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\])*+\\])*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\])*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")|\\{(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\}|\\[(?:(?:[^{}\\[\\]"/]++|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*"))*+\\])*+\\])*+\\])*+\\])*+\\})|))[ \\t\\r\\n]*+((?>(?>:)[ \\t\\r\\n]*+(?>(?>tensor<)[ '
 '\\t\\r\\n]*+(?>(?>(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")\\))x))(?:[ \\t\\r\\n]*+(?>(?>(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")\\))x)))*+[ \\t\\r\\n]*+(?>[A-Za-z][A-Za-z0-9_]*)[ \\t\\r\\n]*+(?>(?>,)[ \\t\\r\\n]*+(?>[A-Za-z]+)|)[ '
 '\\t\\r\\n]*+(?>>)|(?>tensor<)[ \\t\\r\\n]*+(?>[A-Za-z][A-Za-z0-9_]*)[ \\t\\r\\n]*+(?>(?>,)[ '
 '\\t\\r\\n]*+(?>[A-Za-z]+)|)[ \\t\\r\\n]*+(?>>))[ \\t\\r\\n]*+(?>(?>,)[ \\t\\r\\n]*+(?>(?>tensor<)[ '
 '\\t\\r\\n]*+(?>(?>(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")\\))x))(?:[ \\t\\r\\n]*+(?>(?>(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")\\))x)))*+[ \\t\\r\\n]*+(?>[A-Za-z][A-Za-z0-9_]*)[ \\t\\r\\n]*+(?>(?>,)[ \\t\\r\\n]*+(?>[A-Za-z]+)|)[ '
 '\\t\\r\\n]*+(?>>)|(?>tensor<)[ \\t\\r\\n]*+(?>[A-Za-z][A-Za-z0-9_]*)[ \\t\\r\\n]*+(?>(?>,)[ '
 '\\t\\r\\n]*+(?>[A-Za-z]+)|)[ \\t\\r\\n]*+(?>>)))(?:[ \\t\\r\\n]*+(?>(?>,)[ \\t\\r\\n]*+(?>(?>tensor<)[ '
 '\\t\\r\\n]*+(?>(?>(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")\\))x))(?:[ \\t\\r\\n]*+(?>(?>(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")\\))x)))*+[ \\t\\r\\n]*+(?>[A-Za-z][A-Za-z0-9_]*)[ \\t\\r\\n]*+(?>(?>,)[ \\t\\r\\n]*+(?>[A-Za-z]+)|)[ '
 '\\t\\r\\n]*+(?>>)|(?>tensor<)[ \\t\\r\\n]*+(?>[A-Za-z][A-Za-z0-9_]*)[ \\t\\r\\n]*+(?>(?>,)[ '
 '\\t\\r\\n]*+(?>[A-Za-z]+)|)[ \\t\\r\\n]*+(?>>))))*+|(?>:)[ \\t\\r\\n]*+(?>(?>tensor<)[ '
 '\\t\\r\\n]*+(?>(?>(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")\\))x))(?:[ \\t\\r\\n]*+(?>(?>(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n'
 ']*(?:\\\\[^\r\n'
 '][^"\\\\\r\n'
 ']*)*")\\))x)))*+[ \\t\\r\\n]*+(?>[A-Za-z][A-Za-z0-9_]*)[ \\t\\r\\n]*+(?>(?>,)[ \\t\\r\\n]*+(?>[A-Za-z]+)|)[ '
 '\\t\\r\\n]*+(?>>)|(?>tensor<)[ \\t\\r\\n]*+(?>[A-Za-z][A-Za-z0-9_]*)[ \\t\\r\\n]*+(?>(?>,)[ '
 '\\t\\r\\n]*+(?>[A-Za-z]+)|)[ \\t\\r\\n]*+(?>>))|))')
KEYWORDS = ('GRAPH', 'REGION_KIND', 'RETURN')
TERMINALS = {'ATTRIBUTES': 'attributes',
 'COLON': ':',
 'COMMA': ',',
 'DIM': '(?:[0-9]+|\\?|\\((?:[A-Za-z_][A-Za-z0-9_]*|"[^"\\\\\r\n]*(?:\\\\[^\r\n][^"\\\\\r\n]*)*")\\))x',
 'DTYPE': '[A-Za-z][A-Za-z0-9_]*',
 'EQUAL': '=',
 'FALSE': 'false(?![A-Za-z0-9_.$])',
 'FLOAT': '-?(?:(?:[0-9]+\\.[0-9]*(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)|inf|nan)(?![A-Za-z0-9_.$])',
 'GRAPH': 'graph(?![A-Za-z0-9_.$])',
 'INT': '-?(?:0x[0-9a-fA-F]+|[0-9]+)(?![A-Za-z0-9_.$])',
 'KEY': '[A-Za-z_][A-Za-z0-9_.$]*',
 'LBRACE': '\\{',
 'LPAR': '\\(',
 'LSQB': '\\[',
 'MORETHAN': '>',
 'OP_NAME': '[A-Za-z_][A-Za-z0-9_.$]*',
 'RBRACE': '\\}',
 'REGION_KIND': '(?:execution|streaming|tile)(?![A-Za-z0-9_.$])',
 'RESIDENCY': '[A-Za-z]+',
 'RESULTS': '%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
            ']*(?:\\\\[^\r\n'
            '][^"\\\\\r\n'
            ']*)*")(?:(?:[ \t\r\n'
            ']|\\/\\/[^\r\n'
            ']*[\r\n'
            '])*,(?:[ \t\r\n'
            ']|\\/\\/[^\r\n'
            ']*[\r\n'
            '])*%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n'
            ']*(?:\\\\[^\r\n'
            '][^"\\\\\r\n'
            ']*)*"))*(?:[ \t\r\n'
            ']|\\/\\/[^\r\n'
            ']*[\r\n'
            '])*=',
 'RETURN': 'return(?![A-Za-z0-9_.$])',
 'RPAR': '\\)',
 'RSQB': '\\]',
 'STRING': '"[^"\\\\\r\n]*(?:\\\\[^\r\n][^"\\\\\r\n]*)*"',
 'SYMBOL': '@(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n]*(?:\\\\[^\r\n][^"\\\\\r\n]*)*")',
 'TRUE': 'true(?![A-Za-z0-9_.$])',
 'VALUE': '%(?:[A-Za-z0-9_.$]+|"[^"\\\\\r\n]*(?:\\\\[^\r\n][^"\\\\\r\n]*)*")',
 '_TENSOR': 'tensor<',
 '__ANON_0': '\\->'}
ANY_STATE = ('RESULTS', 'FLOAT', 'REGION_KIND', 'RETURN', 'FALSE', 'GRAPH', 'TRUE', 'DIM', 'SYMBOL', 'VALUE', 'INT', 'STRING',
 'KEY', 'OP_NAME', 'DTYPE', 'RESIDENCY', 'ATTRIBUTES', '_TENSOR', '__ANON_0', 'COLON', 'COMMA', 'EQUAL', 'LBRACE',
 'LPAR', 'LSQB', 'MORETHAN', 'RBRACE', 'RPAR', 'RSQB')
STARTS = {'attr_dict': 4, 'graph_head': 0, 'node_types': 3, 'region_head': 1, 'return_': 2, 'start': 5}
END_STATE = 22
ROWS = [(('GRAPH',), {'GRAPH': 6, 'graph_head': 7}), (('REGION_KIND',), {'REGION_KIND': 8, 'region_head': 9}),
 (('RETURN',), {'RETURN': 10, 'return_': 11}), (('COLON',), {'$END': -1, 'COLON': 12, 'node_types': 13}),
 (('LBRACE',), {'LBRACE': 14, 'attr_dict': 15}),
 (('REGION_KIND', 'GRAPH'),
  {'$END': -2,
   'GRAPH': 6,
   'REGION_KIND': 8,
   '__start_star_0': 16,
   'graph': 17,
   'graph_head': 18,
   'item': 19,
   'region': 20,
   'region_head': 21,
   'start': 22}),
 (('SYMBOL',), {'SYMBOL': 23}), ((), {}), (('SYMBOL',), {'SYMBOL': 24}), ((), {}),
 (('VALUE', 'RBRACE'), {'$END': -3, 'RBRACE': -3, 'VALUE': 25, 'operands': 26}), ((), {}),
 (('_TENSOR',), {'_TENSOR': 27, 'type': 28}), ((), {}),
 (('STRING', 'KEY', 'RBRACE'), {'KEY': 29, 'RBRACE': 30, 'STRING': 31, 'entry': 32, 'key': 33}), ((), {}),
 (('REGION_KIND', 'GRAPH'),
  {'$END': -4,
   'GRAPH': 6,
   'REGION_KIND': 8,
   'graph': 17,
   'graph_head': 18,
   'item': 34,
   'region': 20,
   'region_head': 21}),
 (('REGION_KIND', 'GRAPH'), {'$END': -5, 'GRAPH': -5, 'REGION_KIND': -5}), (('LBRACE',), {'LBRACE': 35}),
 (('REGION_KIND', 'GRAPH'), {'$END': -6, 'GRAPH': -6, 'REGION_KIND': -6}),
 (('REGION_KIND', 'GRAPH'), {'$END': -7, 'GRAPH': -7, 'REGION_KIND': -7}), (('LBRACE',), {'LBRACE': 36}), ((), {}),
 (('LPAR',), {'LPAR': 37}),
 (('ATTRIBUTES', 'LBRACE', 'LPAR'), {'$END': -8, 'ATTRIBUTES': -8, 'LBRACE': -8, 'LPAR': 38, 'signature': 39}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE'),
  {'$END': -9,
   'COLON': -9,
   'COMMA': 40,
   'LBRACE': -9,
   'OP_NAME': -9,
   'RBRACE': -9,
   'REGION_KIND': -9,
   'RESULTS': -9,
   'RETURN': -9,
   'STRING': -9,
   '__operands_star_4': 41}),
 (('RBRACE',), {'$END': -10, 'RBRACE': -10}), (('DIM', 'DTYPE'), {'DIM': 42, 'DTYPE': 43, '__type_star_6': 44}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE'),
  {'$END': -11,
   'COMMA': 45,
   'OP_NAME': -11,
   'RBRACE': -11,
   'REGION_KIND': -11,
   'RESULTS': -11,
   'RETURN': -11,
   'STRING': -11,
   '__node_types_star_5': 46}),
 (('EQUAL',), {'EQUAL': -12}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE', 'RSQB'),
  {'$END': -13,
   'COLON': -13,
   'COMMA': -13,
   'LBRACE': -13,
   'OP_NAME': -13,
   'RBRACE': -13,
   'REGION_KIND': -13,
   'RESULTS': -13,
   'RETURN': -13,
   'RSQB': -13,
   'STRING': -13}),
 (('EQUAL',), {'EQUAL': -14}), (('COMMA', 'RBRACE'), {'COMMA': 47, 'RBRACE': 48, '__attr_dict_star_7': 49}),
 (('EQUAL',), {'EQUAL': 50}), (('REGION_KIND', 'GRAPH'), {'$END': -15, 'GRAPH': -15, 'REGION_KIND': -15}),
 (('RESULTS', 'RETURN', 'STRING', 'OP_NAME'),
  {'OP_NAME': -16,
   'RESULTS': 51,
   'RETURN': 10,
   'STRING': -16,
   '__graph_star_1': 52,
   'node': 53,
   'results': 54,
   'return_': 55}),
 (('RESULTS', 'REGION_KIND', 'STRING', 'OP_NAME', 'RBRACE'),
  {'OP_NAME': -16,
   'RBRACE': 56,
   'REGION_KIND': 8,
   'RESULTS': 51,
   'STRING': -16,
   '__region_star_2': 57,
   'node': 58,
   'region': 59,
   'region_head': 21,
   'results': 54}),
 (('VALUE', 'RPAR'), {'RPAR': -17, 'VALUE': 60, 'param': 61, 'params': 62}),
 (('VALUE', 'RPAR'), {'RPAR': -17, 'VALUE': 60, 'param': 61, 'params': 63}),
 (('ATTRIBUTES', 'LBRACE'), {'$END': -18, 'ATTRIBUTES': 64, 'LBRACE': -18, 'attributes': 65}),
 (('VALUE',), {'VALUE': 66}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE'),
  {'$END': -19,
   'COLON': -19,
   'COMMA': 67,
   'LBRACE': -19,
   'OP_NAME': -19,
   'RBRACE': -19,
   'REGION_KIND': -19,
   'RESULTS': -19,
   'RETURN': -19,
   'STRING': -19}),
 (('DIM', 'DTYPE'), {'DIM': -20, 'DTYPE': -20}),
 (('COMMA', 'MORETHAN'), {'COMMA': 68, 'MORETHAN': -21, 'residency': 69}),
 (('DIM', 'DTYPE'), {'DIM': 70, 'DTYPE': 71}), (('_TENSOR',), {'_TENSOR': 27, 'type': 72}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE'),
  {'$END': -22,
   'COMMA': 73,
   'OP_NAME': -22,
   'RBRACE': -22,
   'REGION_KIND': -22,
   'RESULTS': -22,
   'RETURN': -22,
   'STRING': -22}),
 (('STRING', 'KEY'), {'KEY': 29, 'STRING': 31, 'entry': 74, 'key': 33}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE', 'RSQB'),
  {'$END': -23,
   'COLON': -23,
   'COMMA': -23,
   'LBRACE': -23,
   'OP_NAME': -23,
   'RBRACE': -23,
   'REGION_KIND': -23,
   'RESULTS': -23,
   'RETURN': -23,
   'RSQB': -23,
   'STRING': -23}),
 (('COMMA', 'RBRACE'), {'COMMA': 75, 'RBRACE': 76}),
 (('FLOAT', 'FALSE', 'TRUE', 'SYMBOL', 'INT', 'STRING', '_TENSOR', 'LBRACE', 'LSQB'),
  {'FALSE': 77,
   'FLOAT': 78,
   'INT': 79,
   'LBRACE': 14,
   'LSQB': 80,
   'STRING': 81,
   'SYMBOL': 82,
   'TRUE': 83,
   '_TENSOR': 27,
   'attr_dict': 84,
   'list': 85,
   'type': 86,
   'value': 87}),
 (('STRING', 'OP_NAME'), {'OP_NAME': -24, 'STRING': -24}),
 (('RESULTS', 'RETURN', 'STRING', 'OP_NAME'),
  {'OP_NAME': -16, 'RESULTS': 51, 'RETURN': 10, 'STRING': -16, 'node': 88, 'results': 54, 'return_': 89}),
 (('RESULTS', 'RETURN', 'STRING', 'OP_NAME'), {'OP_NAME': -25, 'RESULTS': -25, 'RETURN': -25, 'STRING': -25}),
 (('STRING', 'OP_NAME'), {'OP_NAME': 90, 'STRING': 91, 'op': 92}), (('RBRACE',), {'RBRACE': 93}),
 (('RESULTS', 'REGION_KIND', 'GRAPH', 'STRING', 'OP_NAME', 'RBRACE'),
  {'$END': -26, 'GRAPH': -26, 'OP_NAME': -26, 'RBRACE': -26, 'REGION_KIND': -26, 'RESULTS': -26, 'STRING': -26}),
 (('RESULTS', 'REGION_KIND', 'STRING', 'OP_NAME', 'RBRACE'),
  {'OP_NAME': -16,
   'RBRACE': 94,
   'REGION_KIND': 8,
   'RESULTS': 51,
   'STRING': -16,
   'node': 95,
   'region': 96,
   'region_head': 21,
   'results': 54}),
 (('RESULTS', 'REGION_KIND', 'STRING', 'OP_NAME', 'RBRACE'),
  {'OP_NAME': -27, 'RBRACE': -27, 'REGION_KIND': -27, 'RESULTS': -27, 'STRING': -27}),
 (('RESULTS', 'REGION_KIND', 'STRING', 'OP_NAME', 'RBRACE'),
  {'OP_NAME': -28, 'RBRACE': -28, 'REGION_KIND': -28, 'RESULTS': -28, 'STRING': -28}),
 (('COLON',), {'COLON': 97}), (('COMMA', 'RPAR'), {'COMMA': 98, 'RPAR': -29, '__params_star_3': 99}),
 (('RPAR',), {'RPAR': 100}), (('RPAR',), {'RPAR': 101}), (('LBRACE',), {'LBRACE': 14, 'attr_dict': 102}),
 (('LBRACE',), {'$END': -30, 'LBRACE': -30}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE'),
  {'$END': -31,
   'COLON': -31,
   'COMMA': -31,
   'LBRACE': -31,
   'OP_NAME': -31,
   'RBRACE': -31,
   'REGION_KIND': -31,
   'RESULTS': -31,
   'RETURN': -31,
   'STRING': -31}),
 (('VALUE',), {'VALUE': 103}), (('RESIDENCY',), {'RESIDENCY': 104}), (('MORETHAN',), {'MORETHAN': 105}),
 (('DIM', 'DTYPE'), {'DIM': -32, 'DTYPE': -32}),
 (('COMMA', 'MORETHAN'), {'COMMA': 68, 'MORETHAN': -21, 'residency': 106}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE'),
  {'$END': -33,
   'COMMA': -33,
   'OP_NAME': -33,
   'RBRACE': -33,
   'REGION_KIND': -33,
   'RESULTS': -33,
   'RETURN': -33,
   'STRING': -33}),
 (('_TENSOR',), {'_TENSOR': 27, 'type': 107}), (('COMMA', 'RBRACE'), {'COMMA': -34, 'RBRACE': -34}),
 (('STRING', 'KEY'), {'KEY': 29, 'STRING': 31, 'entry': 108, 'key': 33}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE', 'RSQB'),
  {'$END': -35,
   'COLON': -35,
   'COMMA': -35,
   'LBRACE': -35,
   'OP_NAME': -35,
   'RBRACE': -35,
   'REGION_KIND': -35,
   'RESULTS': -35,
   'RETURN': -35,
   'RSQB': -35,
   'STRING': -35}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -36, 'RBRACE': -36, 'RSQB': -36}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -37, 'RBRACE': -37, 'RSQB': -37}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -38, 'RBRACE': -38, 'RSQB': -38}),
 (('FLOAT', 'FALSE', 'TRUE', 'SYMBOL', 'INT', 'STRING', '_TENSOR', 'LBRACE', 'LSQB', 'RSQB'),
  {'FALSE': 77,
   'FLOAT': 78,
   'INT': 79,
   'LBRACE': 14,
   'LSQB': 80,
   'RSQB': 109,
   'STRING': 81,
   'SYMBOL': 82,
   'TRUE': 83,
   '_TENSOR': 27,
   'attr_dict': 84,
   'list': 85,
   'type': 86,
   'value': 110}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -39, 'RBRACE': -39, 'RSQB': -39}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -40, 'RBRACE': -40, 'RSQB': -40}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -41, 'RBRACE': -41, 'RSQB': -41}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -42, 'RBRACE': -42, 'RSQB': -42}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -43, 'RBRACE': -43, 'RSQB': -43}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -44, 'RBRACE': -44, 'RSQB': -44}),
 (('COMMA', 'RBRACE'), {'COMMA': -45, 'RBRACE': -45}),
 (('RESULTS', 'RETURN', 'STRING', 'OP_NAME'), {'OP_NAME': -46, 'RESULTS': -46, 'RETURN': -46, 'STRING': -46}),
 (('RBRACE',), {'RBRACE': 111}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'SYMBOL', 'VALUE', 'STRING', 'OP_NAME', 'COLON', 'LBRACE', 'RBRACE'),
  {'COLON': -47,
   'LBRACE': -47,
   'OP_NAME': -47,
   'RBRACE': -47,
   'REGION_KIND': -47,
   'RESULTS': -47,
   'RETURN': -47,
   'STRING': -47,
   'SYMBOL': -47,
   'VALUE': -47}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'SYMBOL', 'VALUE', 'STRING', 'OP_NAME', 'COLON', 'LBRACE', 'RBRACE'),
  {'COLON': -48,
   'LBRACE': -48,
   'OP_NAME': -48,
   'RBRACE': -48,
   'REGION_KIND': -48,
   'RESULTS': -48,
   'RETURN': -48,
   'STRING': -48,
   'SYMBOL': -48,
   'VALUE': -48}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'SYMBOL', 'VALUE', 'STRING', 'OP_NAME', 'COLON', 'LBRACE', 'RBRACE'),
  {'COLON': -49,
   'LBRACE': -49,
   'OP_NAME': -49,
   'RBRACE': -49,
   'REGION_KIND': -49,
   'RESULTS': -49,
   'RETURN': -49,
   'STRING': -49,
   'SYMBOL': 112,
   'VALUE': -49,
   'node_name': 113}),
 (('REGION_KIND', 'GRAPH'), {'$END': -50, 'GRAPH': -50, 'REGION_KIND': -50}),
 (('RESULTS', 'REGION_KIND', 'GRAPH', 'STRING', 'OP_NAME', 'RBRACE'),
  {'$END': -51, 'GRAPH': -51, 'OP_NAME': -51, 'RBRACE': -51, 'REGION_KIND': -51, 'RESULTS': -51, 'STRING': -51}),
 (('RESULTS', 'REGION_KIND', 'STRING', 'OP_NAME', 'RBRACE'),
  {'OP_NAME': -52, 'RBRACE': -52, 'REGION_KIND': -52, 'RESULTS': -52, 'STRING': -52}),
 (('RESULTS', 'REGION_KIND', 'STRING', 'OP_NAME', 'RBRACE'),
  {'OP_NAME': -53, 'RBRACE': -53, 'REGION_KIND': -53, 'RESULTS': -53, 'STRING': -53}),
 (('_TENSOR',), {'_TENSOR': 27, 'type': 114}), (('VALUE',), {'VALUE': 60, 'param': 115}),
 (('COMMA', 'RPAR'), {'COMMA': 116, 'RPAR': -54}),
 (('ATTRIBUTES', 'LBRACE'), {'$END': -18, 'ATTRIBUTES': 64, 'LBRACE': -18, 'attributes': 117}),
 (('ATTRIBUTES', '__ANON_0', 'LBRACE'), {'$END': -55, 'ATTRIBUTES': -55, 'LBRACE': -55, '__ANON_0': 118}),
 (('LBRACE',), {'$END': -56, 'LBRACE': -56}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE'),
  {'$END': -57,
   'COLON': -57,
   'COMMA': -57,
   'LBRACE': -57,
   'OP_NAME': -57,
   'RBRACE': -57,
   'REGION_KIND': -57,
   'RESULTS': -57,
   'RETURN': -57,
   'STRING': -57}),
 (('MORETHAN',), {'MORETHAN': -58}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE', 'RPAR', 'RSQB'),
  {'$END': -59,
   'COMMA': -59,
   'OP_NAME': -59,
   'RBRACE': -59,
   'REGION_KIND': -59,
   'RESULTS': -59,
   'RETURN': -59,
   'RPAR': -59,
   'RSQB': -59,
   'STRING': -59}),
 (('MORETHAN',), {'MORETHAN': 119}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE'),
  {'$END': -60,
   'COMMA': -60,
   'OP_NAME': -60,
   'RBRACE': -60,
   'REGION_KIND': -60,
   'RESULTS': -60,
   'RETURN': -60,
   'STRING': -60}),
 (('COMMA', 'RBRACE'), {'COMMA': -61, 'RBRACE': -61}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -62, 'RBRACE': -62, 'RSQB': -62}),
 (('COMMA', 'RSQB'), {'COMMA': 120, 'RSQB': 121, '__list_star_8': 122}),
 (('REGION_KIND', 'GRAPH'), {'$END': -63, 'GRAPH': -63, 'REGION_KIND': -63}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'VALUE', 'STRING', 'OP_NAME', 'COLON', 'LBRACE', 'RBRACE'),
  {'COLON': -64,
   'LBRACE': -64,
   'OP_NAME': -64,
   'RBRACE': -64,
   'REGION_KIND': -64,
   'RESULTS': -64,
   'RETURN': -64,
   'STRING': -64,
   'VALUE': -64}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'VALUE', 'STRING', 'OP_NAME', 'COLON', 'LBRACE', 'RBRACE'),
  {'COLON': -3,
   'LBRACE': -3,
   'OP_NAME': -3,
   'RBRACE': -3,
   'REGION_KIND': -3,
   'RESULTS': -3,
   'RETURN': -3,
   'STRING': -3,
   'VALUE': 25,
   'operands': 123}),
 (('COMMA', 'RPAR'), {'COMMA': -65, 'RPAR': -65}), (('COMMA', 'RPAR'), {'COMMA': -66, 'RPAR': -66}),
 (('VALUE',), {'VALUE': 60, 'param': 124}), (('LBRACE',), {'$END': -67, 'LBRACE': -67}), (('LPAR',), {'LPAR': 125}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE', 'RPAR', 'RSQB'),
  {'$END': -68,
   'COMMA': -68,
   'OP_NAME': -68,
   'RBRACE': -68,
   'REGION_KIND': -68,
   'RESULTS': -68,
   'RETURN': -68,
   'RPAR': -68,
   'RSQB': -68,
   'STRING': -68}),
 (('FLOAT', 'FALSE', 'TRUE', 'SYMBOL', 'INT', 'STRING', '_TENSOR', 'LBRACE', 'LSQB'),
  {'FALSE': 77,
   'FLOAT': 78,
   'INT': 79,
   'LBRACE': 14,
   'LSQB': 80,
   'STRING': 81,
   'SYMBOL': 82,
   'TRUE': 83,
   '_TENSOR': 27,
   'attr_dict': 84,
   'list': 85,
   'type': 86,
   'value': 126}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -69, 'RBRACE': -69, 'RSQB': -69}),
 (('COMMA', 'RSQB'), {'COMMA': 127, 'RSQB': 128}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'LBRACE', 'RBRACE'),
  {'COLON': -70,
   'LBRACE': 14,
   'OP_NAME': -70,
   'RBRACE': -70,
   'REGION_KIND': -70,
   'RESULTS': -70,
   'RETURN': -70,
   'STRING': -70,
   'attr_dict': 129,
   'node_attrs': 130}),
 (('COMMA', 'RPAR'), {'COMMA': -71, 'RPAR': -71}),
 (('VALUE', 'RPAR'), {'RPAR': -17, 'VALUE': 60, 'param': 61, 'params': 131}),
 (('COMMA', 'RSQB'), {'COMMA': -72, 'RSQB': -72}),
 (('FLOAT', 'FALSE', 'TRUE', 'SYMBOL', 'INT', 'STRING', '_TENSOR', 'LBRACE', 'LSQB'),
  {'FALSE': 77,
   'FLOAT': 78,
   'INT': 79,
   'LBRACE': 14,
   'LSQB': 80,
   'STRING': 81,
   'SYMBOL': 82,
   'TRUE': 83,
   '_TENSOR': 27,
   'attr_dict': 84,
   'list': 85,
   'type': 86,
   'value': 132}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -73, 'RBRACE': -73, 'RSQB': -73}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'RBRACE'),
  {'COLON': -74, 'OP_NAME': -74, 'RBRACE': -74, 'REGION_KIND': -74, 'RESULTS': -74, 'RETURN': -74, 'STRING': -74}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'RBRACE'),
  {'COLON': 12,
   'OP_NAME': -1,
   'RBRACE': -1,
   'REGION_KIND': -1,
   'RESULTS': -1,
   'RETURN': -1,
   'STRING': -1,
   'node_types': 133}),
 (('RPAR',), {'RPAR': 134}), (('COMMA', 'RSQB'), {'COMMA': -75, 'RSQB': -75}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'RBRACE'),
  {'OP_NAME': -76, 'RBRACE': -76, 'REGION_KIND': -76, 'RESULTS': -76, 'RETURN': -76, 'STRING': -76}),
 (('ATTRIBUTES', 'LBRACE'), {'$END': -77, 'ATTRIBUTES': -77, 'LBRACE': -77})]
RULES = [('node_types', 'node_types', ''), ('start', 'start', ''), ('operands', 'operands', ''), ('start', 'start', 's'),
 ('item', 'item', 'k'), ('__start_star_0', '__start_star_0', 'k'), ('item', 'item', 'k'),
 ('signature', 'signature', ''), ('operands', 'operands', 'k'), ('return_', 'return_', 'kk'),
 ('node_types', 'node_types', 'dk'), ('key', 'key', 'k'), ('attr_dict', 'attr_dict', 'kd'), ('key', 'key', 'k'),
 ('__start_star_0', '__start_star_0', 'sk'), ('results', 'results', ''), ('params', 'params', ''),
 ('attributes', 'attributes', ''), ('operands', 'operands', 'ks'), ('__type_star_6', '__type_star_6', 'k'),
 ('residency', 'residency', ''), ('node_types', 'node_types', 'dks'), ('attr_dict', 'attr_dict', 'kkd'),
 ('results', 'results', 'k'), ('__graph_star_1', '__graph_star_1', 'k'), ('region', 'region', 'kdk'),
 ('__region_star_2', '__region_star_2', 'k'), ('__region_star_2', '__region_star_2', 'k'),
 ('params', 'params', 'k'), ('region_head', 'region_head', 'kkkk'),
 ('__operands_star_4', '__operands_star_4', 'dk'), ('__type_star_6', '__type_star_6', 'sk'),
 ('__node_types_star_5', '__node_types_star_5', 'dk'), ('__attr_dict_star_7', '__attr_dict_star_7', 'dk'),
 ('attr_dict', 'attr_dict', 'kksd'), ('value', 'false', 'k'), ('value', 'floating', 'k'), ('value', 'integer', 'k'),
 ('value', 'string', 'k'), ('value', 'symbol', 'k'), ('value', 'true', 'k'), ('value', 'value', 'k'),
 ('value', 'value', 'k'), ('value', 'value', 'k'), ('entry', 'entry', 'kdk'),
 ('__graph_star_1', '__graph_star_1', 'sk'), ('op', 'op', 'k'), ('op', 'op', 'k'), ('node_name', 'node_name', ''),
 ('graph', 'graph', 'kdkk'), ('region', 'region', 'kdsk'), ('__region_star_2', '__region_star_2', 'sk'),
 ('__region_star_2', '__region_star_2', 'sk'), ('params', 'params', 'ks'), ('signature', 'signature', 'dkd'),
 ('attributes', 'attributes', 'dk'), ('__operands_star_4', '__operands_star_4', 'sdk'),
 ('residency', 'residency', 'dk'), ('type', 'type', 'dkkd'), ('__node_types_star_5', '__node_types_star_5', 'sdk'),
 ('__attr_dict_star_7', '__attr_dict_star_7', 'sdk'), ('list', 'list', 'kd'), ('graph', 'graph', 'kdskk'),
 ('node_name', 'node_name', 'k'), ('param', 'param', 'kdk'), ('__params_star_3', '__params_star_3', 'dk'),
 ('graph_head', 'graph_head', 'kkdkdk'), ('type', 'type', 'dskkd'), ('list', 'list', 'kkd'),
 ('node_attrs', 'node_attrs', ''), ('__params_star_3', '__params_star_3', 'sdk'),
 ('__list_star_8', '__list_star_8', 'dk'), ('list', 'list', 'kksd'), ('node_attrs', 'node_attrs', 'k'),
 ('__list_star_8', '__list_star_8', 'sdk'), ('node', 'node', 'kkkkkk'), ('signature', 'signature', 'dkdddkd')]
