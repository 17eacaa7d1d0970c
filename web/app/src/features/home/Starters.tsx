import { Link } from '../../ui/Link.tsx'
import { InviteButton } from '../invites/InviteButton.tsx'

const STARTERS = [
  ['/admin/models', 'Connect a model', 'Paste a key, or find a server on this machine.'],
  ['/admin/agents', 'Make an agent', 'Give it instructions and a model, and add it to a space.'],
] as const

const CARD = 'block h-full w-full rounded-lg border border-line bg-paper-high p-4 text-left hover:bg-hover'

/** The first steps on a new server, for administrators. */
export function Starters() {
  return (
    <ul aria-label="First steps" className="grid gap-3 md:grid-cols-3">
      <li>
        <InviteButton className={CARD}>
          <span className="block font-semibold">Invite people</span>
          <span className="text-small text-ink-soft">Send a link with which they join a space.</span>
        </InviteButton>
      </li>
      {STARTERS.map(([path, title, about]) => (
        <li key={path}>
          <Link href={path} className={CARD}>
            <span className="block font-semibold">{title}</span>
            <span className="text-small text-ink-soft">{about}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
