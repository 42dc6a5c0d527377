import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCli } from '../../src/cli/program.ts'

/** What a run of the command line left behind. */
export interface CliRun {
  readonly code: number
  readonly out: string
  readonly messages: string
}

/** Runs the command line in this process, with an environment of its own. */
export const cli = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  {
    input = '',
    signal = new AbortController().signal,
    onTalk = () => {},
    isInteractive = false,
    columns,
  }: { isInteractive?: boolean; columns?: number; input?: string; signal?: AbortSignal; onTalk?: (words: string) => void } = {},
): Promise<CliRun> => {
  const [out, messages] = [new PassThrough(), new PassThrough()]
  messages.on('data', (chunk: Buffer) => onTalk(chunk.toString()))
  const written = [text(out), text(messages)] as const
  const readLine = () => Promise.resolve(input.split('\n')[0] ?? '')
  const readInput = () => Promise.resolve(input)
  if (columns !== undefined) Object.assign(out, { columns })
  const becomeDaemon = () => {
    throw new Error('tests start a daemon as a process of its own')
  }
  const code = await runCli(args, { environment, out, messages, readInput, readLine, isInteractive, signal, becomeDaemon })
  out.end()
  messages.end()
  return { code, out: await written[0], messages: await written[1] }
}
