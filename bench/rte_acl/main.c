/*
 * rte_acl lets DPDK's classifier be measured beside something else: it reads
 * requests, one a line, from standard input, and answers each with a line of
 * JSON on standard output. So the two can take turns.
 *
 *   build FILE             build a classifier of rules
 *   headers FILE           take a list of headers
 *   lookup ALGORITHM SIZE  look them all up, SIZE in one call
 *
 * FILE has records of 20 bytes for rules, of 16 for headers; numbers are in the
 * machine's order in the former, in network order in the latter:
 *
 *   rule    source and destination address (4 each), lowest and highest source
 *           and destination port (2 each), prefix lengths, protocol and its mask
 *           (1 each); the first rule that matches wins
 *   header  source and destination address (4 each), ports (2 each), protocol
 *           (1), unused (3)
 *
 * Answers to build have "ns", the processor time; "bytes", what the classifier
 * holds; "peak", by how much memory grew meanwhile; "huge", whether it lies on
 * huge pages; "version"; and "algorithms", those that this processor has.
 * Answers to lookup have "ns" for a header, and "sum", a checksum of what was
 * found. A failed request is answered by {"error":…}.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <rte_acl.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_vect.h>
#include <rte_version.h>

struct rule {
	uint32_t src, dst;
	uint16_t sport[2], dport[2];
	uint8_t src_len, dst_len, proto, proto_mask;
};

struct header {
	uint32_t src, dst;
	uint16_t sport, dport;
	uint8_t proto, unused[3];
};

/* The library wants one byte first, then groups of four. */
enum { PROTO, SRC, DST, SPORT, DPORT, FIELDS };

static const struct rte_acl_field_def fields[FIELDS] = {
	{ RTE_ACL_FIELD_TYPE_BITMASK, 1, PROTO, 0, offsetof(struct header, proto) },
	{ RTE_ACL_FIELD_TYPE_MASK, 4, SRC, 1, offsetof(struct header, src) },
	{ RTE_ACL_FIELD_TYPE_MASK, 4, DST, 2, offsetof(struct header, dst) },
	{ RTE_ACL_FIELD_TYPE_RANGE, 2, SPORT, 3, offsetof(struct header, sport) },
	{ RTE_ACL_FIELD_TYPE_RANGE, 2, DPORT, 3, offsetof(struct header, dport) },
};

RTE_ACL_RULE_DEF(acl_rule, FIELDS);

static const struct {
	const char *name;
	enum rte_acl_classify_alg alg;
} algorithms[] = {
	{ "scalar", RTE_ACL_CLASSIFY_SCALAR },
	{ "sse", RTE_ACL_CLASSIFY_SSE },
	{ "avx2", RTE_ACL_CLASSIFY_AVX2 },
	{ "avx512x16", RTE_ACL_CLASSIFY_AVX512X16 },
	{ "avx512x32", RTE_ACL_CLASSIFY_AVX512X32 },
};
#define ALGORITHMS (sizeof algorithms / sizeof *algorithms)

static FILE *answers;
static int huge_pages;
static struct rte_acl_ctx *acl;
static struct header *headers;
static const uint8_t **places; /* of the headers, as the library takes them */
static uint32_t *found, header_count;

static void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("{\"error\":\"", answers);
	vfprintf(answers, format, args);
	fputs("\"}\n", answers);
	va_end(args);
}

/* The processor time of this thread: the turns of other programs do not count. */
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* A line of /proc/self/status in bytes. */
static long status(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kilobytes = 0;
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ": %ld", &kilobytes);
	if (f)
		fclose(f);
	return kilobytes << 10;
}

/* Reads a file of records; NULL after a failure that was answered. */
static void *records(const char *name, size_t size, uint32_t *count)
{
	FILE *f = fopen(name, "rb");
	if (!f || fseek(f, 0, SEEK_END)) {
		fail("read the records: %s", strerror(errno));
		if (f)
			fclose(f);
		return NULL;
	}
	*count = ftell(f) / size;
	rewind(f);
	void *list = calloc(*count + 1, size);
	if (!list || *count == 0 || fread(list, size, *count, f) != *count) {
		fail("no records could be read");
		free(list);
		list = NULL;
	}
	fclose(f);
	return list;
}

static int add_rules(const struct rule *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct rule *r = &list[i];
		struct acl_rule a = { .data = { .category_mask = 1, .priority = RTE_ACL_MAX_PRIORITY - i, .userdata = i + 1 } };
		a.field[PROTO].value.u8 = r->proto;
		a.field[PROTO].mask_range.u8 = r->proto_mask;
		a.field[SRC].value.u32 = r->src;
		a.field[SRC].mask_range.u32 = r->src_len;
		a.field[DST].value.u32 = r->dst;
		a.field[DST].mask_range.u32 = r->dst_len;
		a.field[SPORT].value.u16 = r->sport[0];
		a.field[SPORT].mask_range.u16 = r->sport[1];
		a.field[DPORT].value.u16 = r->dport[0];
		a.field[DPORT].mask_range.u16 = r->dport[1];
		int rc = rte_acl_add_rules(acl, (struct rte_acl_rule *)&a, 1);
		if (rc)
			return rc;
	}
	return 0;
}

static size_t allocated(void)
{
	struct rte_malloc_socket_stats s;
	memset(&s, 0, sizeof s);
	rte_malloc_get_socket_stats(0, &s);
	return s.heap_allocsz_bytes;
}

static void build(const char *name)
{
	uint32_t count;
	struct rule *list = records(name, sizeof *list, &count);
	if (!list)
		return;
	rte_acl_free(acl);
	struct rte_acl_param param = {
		.name = "rules", .socket_id = SOCKET_ID_ANY, .rule_size = RTE_ACL_RULE_SZ(FIELDS), .max_rule_num = count,
	};
	acl = rte_acl_create(&param);
	int rc = acl ? add_rules(list, count) : -rte_errno;
	free(list);
	if (rc) {
		fail("take the rules: %s", strerror(-rc));
		return;
	}
	struct rte_acl_config config = { .num_categories = 1, .num_fields = FIELDS };
	memcpy(config.defs, fields, sizeof fields);
	size_t held = allocated();
	long resident = status("VmRSS");
	double start = now();
	rc = rte_acl_build(acl, &config);
	double took = now() - start;
	if (rc) {
		fail("it does not build: %s after %.0f s", strerror(-rc), took / 1e9);
		return;
	}
	fprintf(answers, "{\"ns\":%.0f,\"bytes\":%zu,\"peak\":%ld,\"huge\":%s,\"version\":\"%s\",\"algorithms\":[", took, allocated() - held,
		status("VmHWM") - resident, huge_pages ? "true" : "false", rte_version());
	const char *comma = "";
	for (size_t i = 0; i < ALGORITHMS; i++)
		if (!rte_acl_set_ctx_classify(acl, algorithms[i].alg)) {
			fprintf(answers, "%s\"%s\"", comma, algorithms[i].name);
			comma = ",";
		}
	fputs("]}\n", answers);
}

static void take(const char *name)
{
	struct header *list = records(name, sizeof *list, &header_count);
	if (!list)
		return;
	free(headers);
	headers = list;
	places = realloc(places, header_count * sizeof *places);
	found = realloc(found, header_count * sizeof *found);
	for (uint32_t i = 0; i < header_count; i++)
		places[i] = (const uint8_t *)&headers[i];
	fputs("{}\n", answers);
}

static void lookup(const char *algorithm, uint32_t size)
{
	int rc = -EINVAL;
	for (size_t i = 0; acl && i < ALGORITHMS; i++)
		if (!strcmp(algorithm, algorithms[i].name))
			rc = rte_acl_set_ctx_classify(acl, algorithms[i].alg);
	if (rc || size == 0 || header_count == 0) {
		fail("nothing to look up, or not by this algorithm");
		return;
	}
	double start = now();
	for (uint32_t i = 0; i < header_count; i += size)
		rte_acl_classify(acl, places + i, found + i, RTE_MIN(size, header_count - i), 1);
	double took = now() - start;
	uint64_t sum = 14695981039346656037ull; /* FNV-1a, a word at a time */
	for (uint32_t i = 0; i < header_count; i++)
		sum = (sum ^ found[i]) * 1099511628211ull;
	fprintf(answers, "{\"ns\":%.3f,\"sum\":\"%016llx\"}\n", took / header_count, (unsigned long long)sum);
}

/* Whether enough huge pages are free to work with. */
static int huge_pages_free(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[256];
	long pages = 0, kilobytes = 0;
	while (f && fgets(line, sizeof line, f)) {
		sscanf(line, "HugePages_Free: %ld", &pages);
		sscanf(line, "Hugepagesize: %ld", &kilobytes);
	}
	if (f)
		fclose(f);
	return pages * kilobytes >= 256 << 10;
}

/* Starts DPDK without devices, on whatever processors this process may use. */
static int start(void)
{
	char cores[4096] = "--lcores=0@(", *end = cores + strlen(cores);
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set))
		return -1;
	for (int i = 0; i < CPU_SETSIZE && end < cores + sizeof cores - 16; i++)
		if (CPU_ISSET(i, &set))
			end += sprintf(end, "%s%d", end[-1] == '(' ? "" : ",", i);
	strcpy(end, ")");
	char *args[] = { "rte_acl", cores, "--no-pci", "--no-telemetry", "--log-level=error", "--force-max-simd-bitwidth=512", NULL, NULL, NULL, NULL };
	char *ordinary[] = { "--no-huge", "--no-shconf", "-m", "8000" };
	int count = 6;
	huge_pages = huge_pages_free();
	if (huge_pages)
		args[count++] = "--in-memory";
	else
		for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
			args[count++] = ordinary[i];
	return rte_eal_init(count, args);
}

int main(void)
{
	answers = fdopen(dup(STDOUT_FILENO), "w");
	dup2(STDERR_FILENO, STDOUT_FILENO); /* what libraries print is no answer */
	if (!answers || start() < 0) {
		fprintf(stderr, "rte_acl: start DPDK: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	setpriority(PRIO_PROCESS, 0, -20); /* others would fill the caches in between */
	char line[4400], name[4096], algorithm[32];
	while (fgets(line, sizeof line, stdin)) {
		uint32_t size;
		if (sscanf(line, "build %4095[^\n]", name) == 1)
			build(name);
		else if (sscanf(line, "headers %4095[^\n]", name) == 1)
			take(name);
		else if (sscanf(line, "lookup %31s %u", algorithm, &size) == 2)
			lookup(algorithm, size);
		else
			fail("no such request");
		fflush(answers);
	}
	return 0;
}
