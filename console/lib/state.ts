import { useEffect, useState } from 'preact/hooks'

/** A shared observable value. */
export interface State<Value> {
  get(): Value
  set(value: Value): void
  /** Calls back after each change; returns a function that unsubscribes. */
  watch(callback: () => void): () => void
}

/** Creates a state. */
export const createState = <Value>(initial: Value): State<Value> => {
  let value = initial
  const watchers = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const watcher of [...watchers]) watcher()
    },
    watch: (callback) => {
      watchers.add(callback)
      return () => void watchers.delete(callback)
    },
  }
}

/** The value of a state; renders again after each change. */
export const useShared = <Value>(state: State<Value>): Value => {
  const [value, setValue] = useState(() => state.get())
  useEffect(() => {
    setValue(() => state.get())
    return state.watch(() => setValue(() => state.get()))
  }, [state])
  return value
}
