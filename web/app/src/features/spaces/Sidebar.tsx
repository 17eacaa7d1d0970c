/** The list of spaces beside every page. A row with its badges is `SpaceRow.tsx`. */
import { unread } from '@majlis/client'
import { useMe, useSpaces } from '@majlis/client/react'

import type { Over } from '../../App.tsx'
import { plural, t } from '../../language/words.ts'
import { usePlace } from '../../router.ts'
import { Search } from '../../ui/icons.tsx'
import { Link } from '../../ui/Link.tsx'
import { useToday } from '../../ui/time.ts'
import { COMMAND_KEY } from '../keyboard/shortcuts.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { NewSpace } from './NewSpace.tsx'
import { isSilent, usePreferences } from './preferences.ts'
import { SpaceRow } from './SpaceRow.tsx'
import { useSections, type SpaceSection } from './useSections.ts'

export function Sidebar({ className, onOver }: { className: string; onOver: (over: Over) => void }) {
  const spaces = useSpaces()
  const place = usePlace()
  const here = place.page === 'space' ? place.spaceId : null
  const today = useToday()
  const sections = useSections()
  const preferences = usePreferences(useMe()?.id ?? '')
  const unreadSpaces = spaces.filter((space) => unread(space) > 0 && !preferences.archived.includes(space.facts.id)).length
  const list = ({ title, spaces: listed }: SpaceSection) => (
    <ul aria-label={t(title)}>
      {listed.map((space) => <li key={space.facts.id}><SpaceRow space={space} here={space.facts.id === here} muted={isSilent(preferences, space.facts.id)} today={today} /></li>)}
    </ul>
  )
  return (
    <nav aria-label={t('Spaces')} className={`w-full shrink-0 flex-col border-e border-line bg-paper-low md:w-65 ${className}`}>
      <header className="flex h-14 items-center gap-2 pe-3 ps-4">
        <Link href="/" className="flex items-center gap-2.5 rounded-md font-serif text-large font-semibold">
          <img src="/page/icon.svg" alt="" width="26" height="26" />
          <h1>Majlis</h1>
        </Link>
        <span className="unseen">{plural(unreadSpaces, '{n} space with unread messages', '{n} spaces with unread messages')}</span>
        <span className="flex-1" />
        <NewSpace />
      </header>
      <button
        type="button"
        className="mx-3 mb-2 flex items-center gap-2 rounded-md border border-line bg-paper px-3 py-1.5 text-small text-ink-soft hover:border-line-strong"
        onClick={() => onOver('switcher')}
      >
        <Search className="size-4" />
        <span className="flex-1 text-start">{t('Search')}</span>
        <kbd className="hidden rounded-sm border border-line px-1.5 font-sans text-tiny md:block">{COMMAND_KEY} K</kbd>
      </button>
      <ul className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
        {sections.map((section) => (
          <li key={section.title}>
            {section.title === 'Archived' ? (
              // Open while its space is shown, so that the reader sees where they are.
              <details open={section.spaces.some((space) => space.facts.id === here)}>
                <summary className="cursor-pointer rounded-md px-3 pt-3 pb-1 text-tiny font-semibold text-ink-soft hover:text-ink">{t('Archived ({n})', { n: section.spaces.length })}</summary>
                {list(section)}
              </details>
            ) : (
              <>
                {(sections.length > 1 || section.title === 'Direct') && <h2 className={`px-3 pt-3 pb-1 font-sans text-tiny font-semibold ${section.title === 'Waiting for you' ? 'text-decide' : 'text-ink-soft'}`}>{t(section.title)}</h2>}
                {list(section)}
              </>
            )}
          </li>
        ))}
        {spaces.length === 0 && (
          <li className="p-4 text-small text-ink-soft">{t('No spaces yet. Create one, or ask a space admin to add you.')}</li>
        )}
      </ul>
      <AccountMenu onOver={onOver} />
    </nav>
  )
}
