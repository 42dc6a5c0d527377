import type { World } from '../world.ts'
import { type Form, formSchema } from './model.ts'

const key = 'notification-form'

/** How deliveries are signed and repeated at present. */
export const readForm = ({ meta }: World): Form => meta.read(key, formSchema)

/** Replaces it. */
export const keepForm = ({ meta }: World, form: Form): void => meta.keep(key, form)
