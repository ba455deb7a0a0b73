/**
 * The figures of the audit log, for Prometheus. There are none without an audit log.
 */
import type { AuditFigures } from '../pipeline/audit.js';
import { counter, type Metric } from './metric.js';

export function auditMetrics(audit: AuditFigures | null): Metric[] {
  if (audit === null) return [];
  return [
    counter('rookery_audit_lines_total', 'Lines that are in the audit log.', audit.written),
    counter(
      'rookery_audit_lines_dropped_total',
      'Lines that the audit log could not keep.',
      audit.dropped,
    ),
    counter(
      'rookery_audit_refusals_left_out_total',
      'Refusals that have no line of their own, but are counted in another one.',
      audit.leftOut,
    ),
  ];
}
