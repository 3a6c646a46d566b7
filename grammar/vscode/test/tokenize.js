// Prints the tokens that the TextMate grammar gives for each file: one JSON list a file of
// [line, first character, character behind, scope], by the tokenizer of VS Code itself.
'use strict';

const fs = require('fs');
const path = require('path');
const oniguruma = require('vscode-oniguruma');
const { INITIAL, Registry, parseRawGrammar } = require('vscode-textmate');

async function main(files) {
  const wasm = fs.readFileSync(path.join(path.dirname(require.resolve('vscode-oniguruma')), 'onig.wasm'));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const file = path.join(__dirname, '..', 'syntaxes', 'mcir.tmLanguage.json');
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, 'utf8'), file),
  });
  const grammar = await registry.loadGrammar('source.mcir');
  for (const name of files) {
    const found = [];
    let state = INITIAL;
    fs.readFileSync(name, 'utf8').split('\n').forEach((text, line) => {
      const result = grammar.tokenizeLine(text, state);
      state = result.ruleStack;
      for (const token of result.tokens) {
        found.push([line, token.startIndex, token.endIndex, token.scopes[token.scopes.length - 1]]);
      }
    });
    console.log(JSON.stringify(found));
  }
}

main(process.argv.slice(2));
