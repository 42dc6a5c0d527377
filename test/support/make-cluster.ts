import { makeCluster } from './postgres.ts'

// A program of its own: the runner's set-up cannot load all that the migrations need.
console.log(await makeCluster())
