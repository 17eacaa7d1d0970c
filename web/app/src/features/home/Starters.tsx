import { msg, t } from '../../language/words.ts'
import { Link } from '../../ui/Link.tsx'
import { InviteButton } from '../invites/InviteButton.tsx'

const STARTERS = [
  ['/admin/models', msg('Connect a model'), msg('Paste a key, or find a server on this machine.')],
  ['/admin/agents', msg('Create an agent'), msg('Give it instructions and a model, and add it to a space.')],
] as const

const CARD = 'flex h-full w-full flex-col rounded-lg border border-line bg-paper-high p-4 text-start hover:bg-hover'

/** The first steps on a new server, for administrators. */
export function Starters() {
  return (
    <ul aria-label={t('First steps')} className="grid gap-3 md:grid-cols-3">
      <li>
        <InviteButton className={CARD}>
          <span className="block font-semibold">{t('Invite people')}</span>
          <span className="text-small text-ink-soft">{t('Send a link to join a space.')}</span>
        </InviteButton>
      </li>
      {STARTERS.map(([path, title, about]) => (
        <li key={path}>
          <Link href={path} className={CARD}>
            <span className="block font-semibold">{t(title)}</span>
            <span className="text-small text-ink-soft">{t(about)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
