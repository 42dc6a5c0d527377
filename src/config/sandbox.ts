import path from 'node:path'

/** Credentials of the built-in sandbox, used when `MARKETPLACE_URL` is unset. */
export const sandboxSeller = { sellerId: 'sandbox-seller', clientId: 'sandbox-client', clientSecret: 'sandbox-secret' } as const
/** Identity at the display advertising of the built-in sandbox, which creates the key itself. */
export const sandboxDisplay = { consumerId: 'sandbox-consumer', authToken: 'sandbox-display-token', keyVersion: '1' } as const
/** The file of the key that signs requests to display advertising of the built-in sandbox, which creates it at its first start. */
export const sandboxDisplayKeyFile = (dataDir: string): string => path.join(dataDir, 'sandbox', 'display-private-key.pem')
/** The advertiser id of the seller of a new sandbox. */
export const sandboxAdvertiserId = 10_001
/** The campaigns of a new sandbox, one in each kind of state. */
export const sandboxCampaignIds = Array.from({ length: 9 }, (_, index) => `SEM-${1_001 + index}`)
