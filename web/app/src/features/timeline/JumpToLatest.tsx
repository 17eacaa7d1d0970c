import { plural, t } from '../../language/words.ts'
import { Down } from '../../ui/icons.tsx'

/** `count`: the unread messages below the screen. */
export function JumpToLatest({ count, onGo }: { count: number; onGo: () => void }) {
  return (
    <button
      type="button"
      className="absolute end-4 bottom-3 flex animate-rise items-center gap-2 rounded-full border border-line bg-paper-high py-1.5 pe-4 ps-3 text-small shadow-high hover:bg-hover"
      onClick={onGo}
    >
      <Down className="size-4" />
      {t('Jump to latest')}
      {count > 0 && <span className="font-semibold text-unread">{plural(count, '{n} new', '{n} new')}</span>}
    </button>
  )
}
