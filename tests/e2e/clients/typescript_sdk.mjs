// One conversation of the TypeScript SDK: an order as JSON on standard input, the answers as JSON on standard output.
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const order = JSON.parse(await text(process.stdin));

// The packages live outside this repository, so their address is given, not resolved from here.
const require = createRequire(pathToFileURL(`${order.packages}/`));
const sdk = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client')));
const stdio = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client/stdio')));

function transport({ url, headers, command, args, env }) {
  if (url) return new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  return new stdio.StdioClientTransport({ command, args, env: { ...stdio.getDefaultEnvironment(), ...env } });
}

function mode(name) {
  return name === 'legacy' || name === 'auto' ? name : { pin: name };
}

async function everyPage(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools({ cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

async function answer(client, question) {
  try {
    if (question.list) return { tools: await everyPage(client) };
    return { result: await client.callTool({ name: question.call, arguments: question.arguments }) };
  } catch (error) {
    return { error: refusal(error) };
  }
}

// In the older era this SDK reports any HTTP status but 2xx as a transport failure and leaves the JSON-RPC error
// in the body's text. The caller still got it; anything else is a failure of the test.
function refusal(error) {
  if (typeof error.code === 'number') return { code: error.code, message: error.message };
  const body = error.data?.text ?? error.text;
  if (typeof body === 'string') {
    try {
      const { error: inBody } = JSON.parse(body);
      if (typeof inBody?.code === 'number') return { code: inBody.code, message: inBody.message };
    } catch {
      // Not JSON: the throw below says what it was.
    }
  }
  throw error;
}

const client = new sdk.Client(
  { name: 'toolgate-e2e', version: '1' },
  { versionNegotiation: { mode: mode(order.mode) } },
);
await client.connect(transport(order.server));
const answers = [];
for (const question of order.questions) answers.push(await answer(client, question));
const era = client.getProtocolEra?.() ?? null;
await client.close();
process.stdout.write(JSON.stringify({ era, answers }));
