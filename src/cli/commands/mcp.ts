import { once } from 'node:events'
import { stdin } from 'node:process'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { CliContext } from '../context.ts'
import { createMcpServer } from '../mcp/server.ts'
import { printMessage } from '../output/terminal.ts'

/** `tallyman mcp`: serves agents over the standard streams until the standard input ends. @throws Failed when the daemon cannot be reached */
export const serveMcp = async ({ terminal, daemon, signal }: CliContext): Promise<void> => {
  const createServer = await createMcpServer(daemon)
  const ended = once(stdin, 'end', { signal })
  const handle = serveStdio(createServer, {
    onerror: (error) => printMessage(terminal, `tallyman mcp: ${error.message}`),
  })
  try {
    await ended
  } finally {
    await handle.close()
  }
}
