import { defineConfig } from 'vitest/config'
import { Order } from './test/support/order.ts'

/** Folders whose files leave nothing behind in their process: they share it, which saves loading everything again for each. */
const sharing = ['clients', 'contract', 'domain', 'http', 'jobs', 'observability', 'sandbox', 'specification', 'store'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

export default defineConfig({
  test: {
    globalSetup: ['test/support/shared-servers.ts'],
    pool: 'forks',
    // Node loads our files as it does in production. To transform them first took time of the processor, and again in each project.
    experimental: { viteModuleRunner: false },
    // Two more than the cores of the smallest machine: many tests wait for processes and for the clock. Where other work fills the cores, more do not help.
    maxWorkers: 4,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // As patient as `eventually`: on a machine with other work a page or a job takes longer than a second.
    expect: { poll: { timeout: 60_000, interval: 25 } },
    // The tests of whole processes share two cores with each other: what fails twice is broken. What passed only the second time is named
    // at the end of the run (`test/support/repeats.ts`).
    retry: process.env['CI'] === 'true' ? 1 : 0,
    // A test that passes only because another ran before it is no test.
    sequence: { sequencer: Order, shuffle: { tests: false } },
    projects: [
      { extends: true, test: { name: 'in one process', include: sharing, isolate: false } },
      { extends: true, test: { name: 'by themselves', include: ['test/**/*.test.ts'], exclude: sharing } },
    ],
  },
})
