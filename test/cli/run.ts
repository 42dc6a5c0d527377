import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCli } from '../../src/cli/program.ts'

/** What a run of the command line left behind. */
export interface CliRun {
  readonly code: number
  readonly out: string
  readonly talk: string
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
  const [out, talk] = [new PassThrough(), new PassThrough()]
  talk.on('data', (chunk: Buffer) => onTalk(chunk.toString()))
  const written = [text(out), text(talk)] as const
  const readLine = () => Promise.resolve(input.split('\n')[0] ?? '')
  const readInput = () => Promise.resolve(input)
  if (columns !== undefined) Object.assign(out, { columns })
  const code = await runCli(args, { environment, out, talk, readInput, readLine, isInteractive, signal })
  out.end()
  talk.end()
  return { code, out: await written[0], talk: await written[1] }
}
