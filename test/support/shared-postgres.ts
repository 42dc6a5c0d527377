import { rm } from 'node:fs/promises'
import { makeCluster, readCopy, startIn } from './postgres.ts'

// A program of its own: the runner's set-up cannot load all that the migrations need. It says where its server and the cluster to copy are,
// and runs until its input ends, which it does too when the runner is killed.
const template = await makeCluster()
const shared = await readCopy(template)
const server = await startIn(shared)
console.log(JSON.stringify({ template, url: server.url }))
for await (const _ of process.stdin);
await server.stop()
for (const folder of [template, shared]) await rm(folder, { recursive: true, force: true })
