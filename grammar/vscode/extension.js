// Starts mcir-lsp for files of the language "mcir" and stops it with the editor.
'use strict';

const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function activate() {
  const [command, ...args] = workspace.getConfiguration('mcir').get('server.command', ['mcir-lsp']);
  const server = { command, args: [...args, '--stdio'] };
  client = new LanguageClient('mcir', 'MCIR', server, { documentSelector: [{ language: 'mcir' }] });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
