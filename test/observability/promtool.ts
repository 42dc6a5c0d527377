import { spawnSync } from 'node:child_process'

const program = process.env['PROMTOOL'] ?? 'promtool'

/** True when this machine has a promtool. Without one, tests are skipped with a loud message; with `CI=true` that is a failure. */
export const hasPromtool = (): boolean => {
  if (spawnSync(program, ['--version']).status === 0) return true
  const message = `no ${program} on this machine: the cases of the alert rules do not run (install Prometheus, or name it in PROMTOOL)`
  if (process.env['CI'] === 'true') throw new Error(message)
  process.stderr.write(`\n*** ${message} ***\n\n`)
  return false
}

/** Runs it in a folder; answers its exit code and all that it said. */
export const promtool = (folder: string, ...args: readonly string[]): { readonly code: number | null; readonly said: string } => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  return { code: status, said: `${stdout}${stderr}` }
}
