// Starts mcir-lsp for files of the language "mcir", stops it with the editor, and offers its commands.
'use strict';

const { commands, window, workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

/** @type {LanguageClient | undefined} */
let client;

/** @param {import('vscode').ExtensionContext} context */
function activate(context) {
  const [command, ...args] = workspace.getConfiguration('mcir').get('server.command', ['mcir-lsp']);
  const server = { command, args: [...args, '--stdio'] };
  const made = new LanguageClient('mcir', 'MCIR', server, {
    documentSelector: [{ language: 'mcir' }],
    middleware: { executeCommand },
  });
  context.subscriptions.push(commands.registerCommand('mcir.restartServer', () => made.restart()));
  client = made;
  return made.start().catch((error) => {
    const hint = "pip install 'mcir[lsp]' brings it; the setting mcir.server.command says where it is.";
    window.showErrorMessage(`MCIR: ${command} does not start (${error.message || error}). ${hint}`);
  });
}

function deactivate() {
  return client ? client.stop() : undefined;
}

// The server shows what it made by window/showDocument. Lenses name a text and a line; the palette names nothing.
/**
 * @param {string} command
 * @param {any[]} args
 * @param {(command: string, args: any[]) => any} next
 */
async function executeCommand(command, args, next) {
  if (args.length) {
    return next(command, args);
  }
  const editor = window.activeTextEditor;
  if (!editor || editor.document.languageId !== 'mcir') {
    window.showErrorMessage('MCIR: open an MCIR file first.');
    return undefined;
  }
  const uri = editor.document.uri.toString();
  const line = editor.selection.active.line;
  if (command !== 'mcir.runPasses') {
    return next(command, [uri, line]);
  }
  const placeHolder = 'canonicalize,attention-pattern,streaming-lowering{tile-m=64}';
  const pipeline = await window.showInputBox({ prompt: 'Passes to run, with commas between them', placeHolder });
  return pipeline ? next(command, [uri, pipeline, line]) : undefined;
}

module.exports = { activate, deactivate };
