import { z } from 'zod'

/** Answer of the token operation (public facts, section 1.1). `expires_in` is in seconds. */
export const wireToken = z.looseObject({
  access_token: z.string().min(1),
  token_type: z.string().nullish(),
  expires_in: z.union([z.number(), z.string()]).nullish(),
})
