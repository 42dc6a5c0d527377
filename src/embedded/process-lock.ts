import { open, readFile, rm } from 'node:fs/promises'

/** Another running process uses the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
  readonly pid: number
  constructor(folder: string, pid: number) {
    super(`${folder} is in use by another Tallyman (process ${pid}); stop it first, or set DATA_DIR to another folder`)
    this.pid = pid
  }
}

// A process id alone is not unique: ids are reused, in containers at every start. Together with the start time of the process
// (field 22 of /proc/<pid>/stat, in clock ticks since boot) it identifies one process. On other systems than Linux the id is used alone.
const identify = async (pid: number): Promise<string | null> => {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    return `${pid} ${startedAt} ${boot.trim()}`
  } catch {
    try {
      if (process.platform === 'linux') return null
      process.kill(pid, 0)
      return `${pid}`
    } catch {
      return null
    }
  }
}

/** Creates a lock file that names its process. After SIGKILL it is stale; the next process recognises and removes it. @throws FolderInUse */
export const lockFolder = async (folder: string): Promise<{ release(): Promise<void> }> => {
  const file = `${folder}/tallyman.pid`
  const own = (await identify(process.pid)) ?? `${process.pid}`
  for (;;) {
    try {
      const handle = await open(file, 'wx', 0o600)
      await handle.writeFile(`${own}\n`)
      await handle.close()
      return { release: () => rm(file, { force: true }) }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const owner = (await readFile(file, 'utf8').catch(() => '')).trim()
    const pid = Number.parseInt(owner, 10)
    if (Number.isInteger(pid) && owner !== own && (await identify(pid)) === owner) throw new FolderInUse(folder, pid)
    await rm(file, { force: true })
  }
}
