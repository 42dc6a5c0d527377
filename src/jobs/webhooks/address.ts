import { BlockList, isIP, isIPv6 } from 'node:net'

// Special-purpose addresses (the registries of RFC 6890): what is not reachable from everywhere, or means another address.
const refusedV4 = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by the customers of a carrier
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, where clouds serve credentials
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const
const refusedV6 = [
  ['::', 96], // unspecified, loopback, and addresses of IPv4 in the oldest form
  ['::ffff:0:0:0', 96], // translated IPv4
  ['64:ff9b::', 96], // translated IPv4, whose address may be private
  ['64:ff9b:1::', 48], // the same, locally
  ['100::', 64], // discarded
  ['2001::', 23], // protocol assignments, tunnels of Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // tunnels of 6to4, whose IPv4 address may be private
  ['3fff::', 20], // documentation
  ['5f00::', 16], // segment routing
  ['fc00::', 7], // unique local
  ['fe80::', 10], // link-local
  ['fec0::', 10], // site-local
  ['ff00::', 8], // multicast
] as const

const refusedOfV4 = new BlockList()
for (const [net, prefix] of refusedV4) refusedOfV4.addSubnet(net, prefix, 'ipv4')
const refusedOfV6 = new BlockList()
for (const [net, prefix] of refusedV6) refusedOfV6.addSubnet(net, prefix, 'ipv6')

/** `::ffff:a.b.c.d`: an address of IPv4 in an address of IPv6. */
const mapped = new BlockList()
mapped.addSubnet('::ffff:0:0', 96, 'ipv6')

/**
 * Whether an address can be reached from everywhere. Loopback, private, link-local, shared, multicast, reserved ones and those that stand for another
 * address cannot. Text that is no address counts as one that cannot.
 */
export const isPublicAddress = (address: string): boolean => {
  // A zone (`fe80::1%eth0`) belongs to a local address.
  if (isIP(address) === 0 || address.includes('%')) return false
  if (!isIPv6(address)) return !refusedOfV4.check(address, 'ipv4')
  // The list of IPv4 knows mapped addresses by itself.
  if (mapped.check(address, 'ipv6')) return !refusedOfV4.check(address, 'ipv6')
  return !refusedOfV6.check(address, 'ipv6')
}

/** The host of a URL as an address, without the brackets of IPv6; null: it is a name. */
export const addressInUrl = ({ hostname }: URL): string | null => {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) === 0 ? null : bare
}

const longestUrl = 2_048

/** Why a URL is refused as that of an endpoint; null: it is not. Names are looked up only when something is sent. */
export const refusalOfUrl = (text: string, privateAddresses: boolean): string | null => {
  if (text.length > longestUrl) return `is longer than ${longestUrl} characters`
  if (!URL.canParse(text)) return 'is not a URL'
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(privateAddresses && url.protocol === 'http:'))
    return privateAddresses
      ? 'must begin with https:// or http://'
      : 'must begin with https:// (http:// is accepted with WEBHOOK_PRIVATE_ADDRESSES=allow)'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password'
  if (url.hash !== '') return 'must not contain a fragment'
  const address = addressInUrl(url)
  if (
    !privateAddresses &&
    (url.hostname === 'localhost' || url.hostname.endsWith('.localhost') || (address !== null && !isPublicAddress(address)))
  )
    return 'is a loopback, private or otherwise special address (WEBHOOK_PRIVATE_ADDRESSES=allow accepts them)'
  return null
}
