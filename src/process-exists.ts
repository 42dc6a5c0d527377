/** Whether a process of this id is there, be it ours or of another user. Ids are reused, and are those of the own namespace. */
export const processExists = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It is there, and of somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
