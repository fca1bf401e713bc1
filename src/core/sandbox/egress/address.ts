import { isIP } from 'node:net';

/**
 * The kind of network an address belongs to. Only a `public` address may be dialled without being named in the
 * configuration.
 */
export type Reach =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'metadata'
  | 'multicast'
  | 'reserved'
  | 'own';

type Ranges = readonly (readonly [prefix: string, bits: number, reach: Reach])[];

/** The first match counts. */
const RANGES_4: Ranges = [
  // Metadata services of cloud machines, which give out credentials. Two of them have public-looking addresses.
  ['169.254.169.254', 32, 'metadata'],
  ['169.254.170.2', 32, 'metadata'],
  ['100.100.100.200', 32, 'metadata'],
  ['168.63.129.16', 32, 'metadata'],
  ['192.0.0.192', 32, 'metadata'],
  ['127.0.0.0', 8, 'loopback'],
  ['10.0.0.0', 8, 'private'],
  ['172.16.0.0', 12, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['169.254.0.0', 16, 'link-local'],
  ['224.0.0.0', 4, 'multicast'],
  // Linux reserves all of 0.0.0.0/8.
  ['0.0.0.0', 8, 'reserved'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['192.88.99.0', 24, 'reserved'],
  ['198.18.0.0', 15, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['240.0.0.0', 4, 'reserved'],
];

const RANGES_6: Ranges = [
  ['fd00:ec2::254', 128, 'metadata'],
  ['fd20:ce::254', 128, 'metadata'],
  ['::1', 128, 'loopback'],
  ['fc00::', 7, 'private'],
  ['64:ff9b:1::', 48, 'private'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'private'],
  ['ff00::', 8, 'multicast'],
  // Everything else that is not global unicast, and tunnels that contain an IPv4 address.
  ['2001::', 23, 'reserved'],
  ['2001:db8::', 32, 'reserved'],
  ['2002::', 16, 'reserved'],
  ['3fff::', 20, 'reserved'],
  ['2000::', 3, 'public'],
  ['::', 0, 'reserved'],
];

/** IPv4 addresses inside IPv6 ones: mapped, compatible (deprecated), and translated by NAT64. */
const CARRIERS = ['::ffff:0:0', '::', '64:ff9b::'];

/** Classifies an address. `own` are the addresses of this machine. */
export function reachOf(address: string, own: readonly string[] = []): Reach {
  const bits = bitsOf(address);
  const carried = carriedIpv4(bits);
  if (carried !== undefined) return reachOf(carried, own);
  const known = (bits.length === 32 ? RANGES_4 : RANGES_6).find(([prefix, length]) =>
    bits.startsWith(bitsOf(prefix).slice(0, length)),
  );
  const reach = known?.[2] ?? 'public';
  return reach === 'public' && own.some((each) => bitsOf(each) === bits) ? 'own' : reach;
}

/** The canonical form of an address; undefined for anything else. Zones (`%eth0`) are rejected. */
export function canonicalAddress(text: string): string | undefined {
  if (text.includes('%')) return undefined;
  switch (isIP(text)) {
    case 4:
      return text;
    case 6: {
      const bits = bitsOf(text);
      const groups = bits.match(/.{16}/g)!.map((group) => Number.parseInt(group, 2).toString(16));
      return carriedIpv4(bits) ?? new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
    }
    default:
      return undefined;
  }
}

function carriedIpv4(bits: string): string | undefined {
  if (bits.length !== 128) return undefined;
  const isCarrier = CARRIERS.some((carrier) => bits.startsWith(bitsOf(carrier).slice(0, 96)));
  // `::` and `::1` contain no IPv4 address.
  if (!isCarrier || /^0+[01]$/.test(bits)) return undefined;
  return bytesOf(bits.slice(96)).join('.');
}

/** The 4 or 16 bytes of an address. */
export function addressBytes(address: string): number[] {
  return bytesOf(bitsOf(address));
}

function bytesOf(bits: string): number[] {
  return bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2));
}

/** The 32 or 128 bits of an address. */
function bitsOf(address: string): string {
  const byte = (value: number, width: number) => value.toString(2).padStart(width, '0');
  if (!address.includes(':')) {
    return address
      .split('.')
      .map((part) => byte(Number(part), 8))
      .join('');
  }
  const words = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts) => {
    const [a, b, c, d] = parts.slice(0, 4).map(Number) as [number, number, number, number];
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = '', tail] = words.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const gap = new Array(tail === undefined ? 0 : 8 - first.length - last.length).fill('0');
  return [...first, ...gap, ...last].map((group) => byte(Number.parseInt(group, 16), 16)).join('');
}
