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
STARTS = {'attr_dict': 4, 'graph_head': 0, 'node_types': 3, 'region_head': 1, 'return_': 2}
ROWS = [(('GRAPH',), {'GRAPH': 5, 'graph_head': 6}), (('REGION_KIND',), {'REGION_KIND': 7, 'region_head': 8}),
 (('RETURN',), {'RETURN': 9, 'return_': 10}), (('COLON',), {'$END': -1, 'COLON': 11, 'node_types': 12}),
 (('LBRACE',), {'LBRACE': 13, 'attr_dict': 14}), (('SYMBOL',), {'SYMBOL': 15}), ((), {}),
 (('SYMBOL',), {'SYMBOL': 16}), ((), {}),
 (('VALUE', 'RBRACE'), {'$END': -2, 'RBRACE': -2, 'VALUE': 17, 'operands': 18}), ((), {}),
 (('_TENSOR',), {'_TENSOR': 19, 'type': 20}), ((), {}),
 (('STRING', 'KEY', 'RBRACE'), {'KEY': 21, 'RBRACE': 22, 'STRING': 23, 'entry': 24, 'key': 25}), ((), {}),
 (('LPAR',), {'LPAR': 26}),
 (('ATTRIBUTES', 'LBRACE', 'LPAR'), {'$END': -3, 'ATTRIBUTES': -3, 'LBRACE': -3, 'LPAR': 27, 'signature': 28}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE'),
  {'$END': -4,
   'COLON': -4,
   'COMMA': 29,
   'LBRACE': -4,
   'OP_NAME': -4,
   'RBRACE': -4,
   'REGION_KIND': -4,
   'RESULTS': -4,
   'RETURN': -4,
   'STRING': -4,
   '__operands_star_4': 30}),
 (('RBRACE',), {'$END': -5, 'RBRACE': -5}), (('DIM', 'DTYPE'), {'DIM': 31, 'DTYPE': 32, '__type_star_6': 33}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE'),
  {'$END': -6,
   'COMMA': 34,
   'OP_NAME': -6,
   'RBRACE': -6,
   'REGION_KIND': -6,
   'RESULTS': -6,
   'RETURN': -6,
   'STRING': -6,
   '__node_types_star_5': 35}),
 (('EQUAL',), {'EQUAL': -7}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE', 'RSQB'),
  {'$END': -8,
   'COLON': -8,
   'COMMA': -8,
   'LBRACE': -8,
   'OP_NAME': -8,
   'RBRACE': -8,
   'REGION_KIND': -8,
   'RESULTS': -8,
   'RETURN': -8,
   'RSQB': -8,
   'STRING': -8}),
 (('EQUAL',), {'EQUAL': -9}), (('COMMA', 'RBRACE'), {'COMMA': 36, 'RBRACE': 37, '__attr_dict_star_7': 38}),
 (('EQUAL',), {'EQUAL': 39}), (('VALUE', 'RPAR'), {'RPAR': -10, 'VALUE': 40, 'param': 41, 'params': 42}),
 (('VALUE', 'RPAR'), {'RPAR': -10, 'VALUE': 40, 'param': 41, 'params': 43}),
 (('ATTRIBUTES', 'LBRACE'), {'$END': -11, 'ATTRIBUTES': 44, 'LBRACE': -11, 'attributes': 45}),
 (('VALUE',), {'VALUE': 46}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE'),
  {'$END': -12,
   'COLON': -12,
   'COMMA': 47,
   'LBRACE': -12,
   'OP_NAME': -12,
   'RBRACE': -12,
   'REGION_KIND': -12,
   'RESULTS': -12,
   'RETURN': -12,
   'STRING': -12}),
 (('DIM', 'DTYPE'), {'DIM': -13, 'DTYPE': -13}),
 (('COMMA', 'MORETHAN'), {'COMMA': 48, 'MORETHAN': -14, 'residency': 49}),
 (('DIM', 'DTYPE'), {'DIM': 50, 'DTYPE': 51}), (('_TENSOR',), {'_TENSOR': 19, 'type': 52}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE'),
  {'$END': -15,
   'COMMA': 53,
   'OP_NAME': -15,
   'RBRACE': -15,
   'REGION_KIND': -15,
   'RESULTS': -15,
   'RETURN': -15,
   'STRING': -15}),
 (('STRING', 'KEY'), {'KEY': 21, 'STRING': 23, 'entry': 54, 'key': 25}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE', 'RSQB'),
  {'$END': -16,
   'COLON': -16,
   'COMMA': -16,
   'LBRACE': -16,
   'OP_NAME': -16,
   'RBRACE': -16,
   'REGION_KIND': -16,
   'RESULTS': -16,
   'RETURN': -16,
   'RSQB': -16,
   'STRING': -16}),
 (('COMMA', 'RBRACE'), {'COMMA': 55, 'RBRACE': 56}),
 (('FLOAT', 'FALSE', 'TRUE', 'SYMBOL', 'INT', 'STRING', '_TENSOR', 'LBRACE', 'LSQB'),
  {'FALSE': 57,
   'FLOAT': 58,
   'INT': 59,
   'LBRACE': 13,
   'LSQB': 60,
   'STRING': 61,
   'SYMBOL': 62,
   'TRUE': 63,
   '_TENSOR': 19,
   'attr_dict': 64,
   'list': 65,
   'type': 66,
   'value': 67}),
 (('COLON',), {'COLON': 68}), (('COMMA', 'RPAR'), {'COMMA': 69, 'RPAR': -17, '__params_star_3': 70}),
 (('RPAR',), {'RPAR': 71}), (('RPAR',), {'RPAR': 72}), (('LBRACE',), {'LBRACE': 13, 'attr_dict': 73}),
 (('LBRACE',), {'$END': -18, 'LBRACE': -18}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE'),
  {'$END': -19,
   'COLON': -19,
   'COMMA': -19,
   'LBRACE': -19,
   'OP_NAME': -19,
   'RBRACE': -19,
   'REGION_KIND': -19,
   'RESULTS': -19,
   'RETURN': -19,
   'STRING': -19}),
 (('VALUE',), {'VALUE': 74}), (('RESIDENCY',), {'RESIDENCY': 75}), (('MORETHAN',), {'MORETHAN': 76}),
 (('DIM', 'DTYPE'), {'DIM': -20, 'DTYPE': -20}),
 (('COMMA', 'MORETHAN'), {'COMMA': 48, 'MORETHAN': -14, 'residency': 77}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE'),
  {'$END': -21,
   'COMMA': -21,
   'OP_NAME': -21,
   'RBRACE': -21,
   'REGION_KIND': -21,
   'RESULTS': -21,
   'RETURN': -21,
   'STRING': -21}),
 (('_TENSOR',), {'_TENSOR': 19, 'type': 78}), (('COMMA', 'RBRACE'), {'COMMA': -22, 'RBRACE': -22}),
 (('STRING', 'KEY'), {'KEY': 21, 'STRING': 23, 'entry': 79, 'key': 25}),
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
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -24, 'RBRACE': -24, 'RSQB': -24}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -25, 'RBRACE': -25, 'RSQB': -25}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -26, 'RBRACE': -26, 'RSQB': -26}),
 (('FLOAT', 'FALSE', 'TRUE', 'SYMBOL', 'INT', 'STRING', '_TENSOR', 'LBRACE', 'LSQB', 'RSQB'),
  {'FALSE': 57,
   'FLOAT': 58,
   'INT': 59,
   'LBRACE': 13,
   'LSQB': 60,
   'RSQB': 80,
   'STRING': 61,
   'SYMBOL': 62,
   'TRUE': 63,
   '_TENSOR': 19,
   'attr_dict': 64,
   'list': 65,
   'type': 66,
   'value': 81}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -27, 'RBRACE': -27, 'RSQB': -27}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -28, 'RBRACE': -28, 'RSQB': -28}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -29, 'RBRACE': -29, 'RSQB': -29}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -30, 'RBRACE': -30, 'RSQB': -30}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -31, 'RBRACE': -31, 'RSQB': -31}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -32, 'RBRACE': -32, 'RSQB': -32}),
 (('COMMA', 'RBRACE'), {'COMMA': -33, 'RBRACE': -33}), (('_TENSOR',), {'_TENSOR': 19, 'type': 82}),
 (('VALUE',), {'VALUE': 40, 'param': 83}), (('COMMA', 'RPAR'), {'COMMA': 84, 'RPAR': -34}),
 (('ATTRIBUTES', 'LBRACE'), {'$END': -11, 'ATTRIBUTES': 44, 'LBRACE': -11, 'attributes': 85}),
 (('ATTRIBUTES', '__ANON_0', 'LBRACE'), {'$END': -35, 'ATTRIBUTES': -35, 'LBRACE': -35, '__ANON_0': 86}),
 (('LBRACE',), {'$END': -36, 'LBRACE': -36}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COLON', 'COMMA', 'LBRACE', 'RBRACE'),
  {'$END': -37,
   'COLON': -37,
   'COMMA': -37,
   'LBRACE': -37,
   'OP_NAME': -37,
   'RBRACE': -37,
   'REGION_KIND': -37,
   'RESULTS': -37,
   'RETURN': -37,
   'STRING': -37}),
 (('MORETHAN',), {'MORETHAN': -38}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE', 'RPAR', 'RSQB'),
  {'$END': -39,
   'COMMA': -39,
   'OP_NAME': -39,
   'RBRACE': -39,
   'REGION_KIND': -39,
   'RESULTS': -39,
   'RETURN': -39,
   'RPAR': -39,
   'RSQB': -39,
   'STRING': -39}),
 (('MORETHAN',), {'MORETHAN': 87}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE'),
  {'$END': -40,
   'COMMA': -40,
   'OP_NAME': -40,
   'RBRACE': -40,
   'REGION_KIND': -40,
   'RESULTS': -40,
   'RETURN': -40,
   'STRING': -40}),
 (('COMMA', 'RBRACE'), {'COMMA': -41, 'RBRACE': -41}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -42, 'RBRACE': -42, 'RSQB': -42}),
 (('COMMA', 'RSQB'), {'COMMA': 88, 'RSQB': 89, '__list_star_8': 90}),
 (('COMMA', 'RPAR'), {'COMMA': -43, 'RPAR': -43}), (('COMMA', 'RPAR'), {'COMMA': -44, 'RPAR': -44}),
 (('VALUE',), {'VALUE': 40, 'param': 91}), (('LBRACE',), {'$END': -45, 'LBRACE': -45}), (('LPAR',), {'LPAR': 92}),
 (('RESULTS', 'REGION_KIND', 'RETURN', 'STRING', 'OP_NAME', 'COMMA', 'RBRACE', 'RPAR', 'RSQB'),
  {'$END': -46,
   'COMMA': -46,
   'OP_NAME': -46,
   'RBRACE': -46,
   'REGION_KIND': -46,
   'RESULTS': -46,
   'RETURN': -46,
   'RPAR': -46,
   'RSQB': -46,
   'STRING': -46}),
 (('FLOAT', 'FALSE', 'TRUE', 'SYMBOL', 'INT', 'STRING', '_TENSOR', 'LBRACE', 'LSQB'),
  {'FALSE': 57,
   'FLOAT': 58,
   'INT': 59,
   'LBRACE': 13,
   'LSQB': 60,
   'STRING': 61,
   'SYMBOL': 62,
   'TRUE': 63,
   '_TENSOR': 19,
   'attr_dict': 64,
   'list': 65,
   'type': 66,
   'value': 93}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -47, 'RBRACE': -47, 'RSQB': -47}),
 (('COMMA', 'RSQB'), {'COMMA': 94, 'RSQB': 95}), (('COMMA', 'RPAR'), {'COMMA': -48, 'RPAR': -48}),
 (('VALUE', 'RPAR'), {'RPAR': -10, 'VALUE': 40, 'param': 41, 'params': 96}),
 (('COMMA', 'RSQB'), {'COMMA': -49, 'RSQB': -49}),
 (('FLOAT', 'FALSE', 'TRUE', 'SYMBOL', 'INT', 'STRING', '_TENSOR', 'LBRACE', 'LSQB'),
  {'FALSE': 57,
   'FLOAT': 58,
   'INT': 59,
   'LBRACE': 13,
   'LSQB': 60,
   'STRING': 61,
   'SYMBOL': 62,
   'TRUE': 63,
   '_TENSOR': 19,
   'attr_dict': 64,
   'list': 65,
   'type': 66,
   'value': 97}),
 (('COMMA', 'RBRACE', 'RSQB'), {'COMMA': -50, 'RBRACE': -50, 'RSQB': -50}), (('RPAR',), {'RPAR': 98}),
 (('COMMA', 'RSQB'), {'COMMA': -51, 'RSQB': -51}),
 (('ATTRIBUTES', 'LBRACE'), {'$END': -52, 'ATTRIBUTES': -52, 'LBRACE': -52})]
RULES = [('node_types', 'node_types', ''), ('operands', 'operands', ''), ('signature', 'signature', ''),
 ('operands', 'operands', 'k'), ('return_', 'return_', 'kk'), ('node_types', 'node_types', 'dk'),
 ('key', 'key', 'k'), ('attr_dict', 'attr_dict', 'kd'), ('key', 'key', 'k'), ('params', 'params', ''),
 ('attributes', 'attributes', ''), ('operands', 'operands', 'ks'), ('__type_star_6', '__type_star_6', 'k'),
 ('residency', 'residency', ''), ('node_types', 'node_types', 'dks'), ('attr_dict', 'attr_dict', 'kkd'),
 ('params', 'params', 'k'), ('region_head', 'region_head', 'kkkk'),
 ('__operands_star_4', '__operands_star_4', 'dk'), ('__type_star_6', '__type_star_6', 'sk'),
 ('__node_types_star_5', '__node_types_star_5', 'dk'), ('__attr_dict_star_7', '__attr_dict_star_7', 'dk'),
 ('attr_dict', 'attr_dict', 'kksd'), ('value', 'false', 'k'), ('value', 'floating', 'k'), ('value', 'integer', 'k'),
 ('value', 'string', 'k'), ('value', 'symbol', 'k'), ('value', 'true', 'k'), ('value', 'value', 'k'),
 ('value', 'value', 'k'), ('value', 'value', 'k'), ('entry', 'entry', 'kdk'), ('params', 'params', 'ks'),
 ('signature', 'signature', 'dkd'), ('attributes', 'attributes', 'dk'),
 ('__operands_star_4', '__operands_star_4', 'sdk'), ('residency', 'residency', 'dk'), ('type', 'type', 'dkkd'),
 ('__node_types_star_5', '__node_types_star_5', 'sdk'), ('__attr_dict_star_7', '__attr_dict_star_7', 'sdk'),
 ('list', 'list', 'kd'), ('param', 'param', 'kdk'), ('__params_star_3', '__params_star_3', 'dk'),
 ('graph_head', 'graph_head', 'kkdkdk'), ('type', 'type', 'dskkd'), ('list', 'list', 'kkd'),
 ('__params_star_3', '__params_star_3', 'sdk'), ('__list_star_8', '__list_star_8', 'dk'), ('list', 'list', 'kksd'),
 ('__list_star_8', '__list_star_8', 'sdk'), ('signature', 'signature', 'dkdddkd')]
