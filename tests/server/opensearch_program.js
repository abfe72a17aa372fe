// What a user of opensearch-js does with memories; prints what was answered as one line of JSON.
const { Client } = require('@opensearch-project/opensearch');
const { readFileSync } = require('fs');

const MEMORY = '/_plugins/_ml/memory';
const { url, users, ca } = JSON.parse(process.argv[2]);

function connect(auth) {
  const options = { compression: 'gzip' };
  return new Client({ node: url, ...options, ...(auth ? { auth } : {}), ...(ca ? { ssl: { ca: readFileSync(ca) } } : {}) });
}

async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    return { name: error.name, status: error.statusCode, type: error.body?.error?.type ?? error.body };
  }
  return null;
}

async function conversation(client) {
  const told = {};
  told.ping = (await client.ping()).body;
  told.info = (await client.info()).body.version;
  told.health = (await client.cluster.health()).body.status;
  const { memory_id } = (await client.ml.createMemory({ body: { name: 'Trip to Porto' } })).body;
  const made = [];
  for (const [input, response] of [['What is a francesinha?', 'A sandwich.'], ['Where is Ribeira?', 'By the river.']]) {
    made.push((await client.ml.createMessage({ memory_id, body: { input, response } })).body.message_id);
  }
  const step = { input: 'looks it up', parent_message_id: made[0], trace_number: 1 };
  await client.ml.createMessage({ memory_id, body: step });
  told.indices = (await client.cat.indices({ format: 'json' })).body;
  told.memory = (await client.ml.getMemory({ memory_id })).body;
  const first = (await client.ml.getAllMessages({ memory_id, max_results: 1 })).body;
  const second = (await client.ml.getAllMessages({ memory_id, max_results: 1, next_token: first.next_token })).body;
  told.pages = [first, second];
  told.traces = (await client.ml.getMessageTraces({ message_id: made[0] })).body.traces;
  const query = { match: { input: 'francesinha' } };
  told.found = (await client.ml.searchMessage({ memory_id, body: { query } })).body;
  told.updated = (await client.ml.updateMemory({ memory_id, body: { name: 'Trip to Braga' } })).body;
  told.memories = (await client.ml.searchMemory({ body: { query: { match: { name: 'braga' } } } })).body;
  told.wrong = await refusal(client.ml.searchMessage({ memory_id, body: { query: { mach: {} } } }));
  told.deleted = (await client.ml.deleteMemory({ memory_id })).body;
  told.absent = await refusal(client.ml.getMemory({ memory_id }));
  told.unread = await refusal(client.transport.request({ method: 'GET', path: '/notes/_search' }));
  return told;
}

async function privacy() {
  const [alice, bob] = users.map(connect);
  const { memory_id } = (await alice.ml.createMemory({ body: { name: 'Trip' } })).body;
  return {
    bob: (await bob.ml.getAllMemories()).body,
    foreign: await refusal(bob.ml.getMemory({ memory_id })),
    wrong: await refusal(connect({ username: 'alice', password: 'wrong' }).ml.getAllMemories()),
    untrusted: await refusal(new Client({ node: url, auth: users[0], maxRetries: 0 }).ping()),
  };
}

(users ? privacy() : conversation(connect())).then(
  (told) => console.log(JSON.stringify(told)),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
