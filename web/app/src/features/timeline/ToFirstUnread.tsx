import { Link } from '../../ui/Link.tsx'

/** More is new than what is at hand: a way to where one had stopped. */
export function ToFirstUnread({ count, href }: { count: number; href: string }) {
  return (
    <Link href={href} className="absolute top-3 left-1/2 -translate-x-1/2 animate-rise rounded-full bg-warm px-4 py-1.5 text-small font-medium text-warm-ink shadow-high">
      {count} more above: to the first unread
    </Link>
  )
}
