// Prints secrets for `docker compose`, new ones each time: `(umask 077 && node scripts/make-env.mjs > .env)`.
// Plain JavaScript, since it runs on the machine's own Node. The passwords are used in URLs, so they consist of letters and digits.
import { randomBytes } from 'node:crypto'

const secret = () => randomBytes(24).toString('hex')

console.log(`POSTGRES_PASSWORD=${secret()}
REDIS_PASSWORD=${secret()}
API_KEY=${secret()}
EVENTS_SECRET=whsec_${randomBytes(32).toString('base64')}
NOTIFICATIONS_SECRET=marketplace:${secret()}`)
