// Loaded before the daemon by a test: SIGUSR2 sets its clock on by an hour, SIGWINCH back by one, as a bad time server does.
const hourMs = 3_600_000
const real = Date
let shiftMs = 0
const now = (): number => real.now() + shiftMs

globalThis.Date = new Proxy(real, {
  construct: (target, parts) => Reflect.construct(target, parts.length === 0 ? [now()] : parts),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})
process.on('SIGUSR2', () => {
  shiftMs += hourMs
})
process.on('SIGWINCH', () => {
  shiftMs -= hourMs
})
