import freemarker.core.Environment;
import freemarker.core.ParseException;
import freemarker.core.TemplateNumberFormat;
import freemarker.core.TemplateNumberFormatFactory;
import freemarker.template.Configuration;
import freemarker.template.Template;
import freemarker.template.TemplateException;
import freemarker.template.TemplateExceptionHandler;
import freemarker.template.TemplateModelException;
import freemarker.template.TemplateNumberModel;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;

/**
 * Renders templates with Apache FreeMarker under the settings the product's engine has (contract 05 §3). Reads one
 * template a line in base64; answers one line each: `OK <base64>`, or `ERR <line> <column> <base64 message>`.
 * The first line of its output is the engine's version.
 */
public class Reference {
    /** Digits at own scale, no grouping, no exponent: the product's default number format. */
    private static final class Plain extends TemplateNumberFormat {
        @Override
        public String formatToPlainText(TemplateNumberModel model) throws TemplateModelException {
            Number number = model.getAsNumber();
            return number instanceof BigDecimal ? ((BigDecimal) number).toPlainString() : number.toString();
        }

        @Override
        public boolean isLocaleBound() {
            return false;
        }

        @Override
        public String getDescription() {
            return "plain";
        }
    }

    private static final class PlainFactory extends TemplateNumberFormatFactory {
        @Override
        public TemplateNumberFormat get(String params, Locale locale, Environment env) {
            return new Plain();
        }
    }

    public static void main(String[] args) throws Exception {
        Configuration configuration = new Configuration(Configuration.VERSION_2_3_31);
        configuration.setDefaultEncoding("UTF-8");
        configuration.setLocale(Locale.US);
        configuration.setTimeZone(TimeZone.getTimeZone("UTC"));
        configuration.setCustomNumberFormats(Map.of("plain", new PlainFactory()));
        configuration.setNumberFormat("@plain");
        configuration.setBooleanFormat("c");
        configuration.setDateFormat("iso");
        configuration.setTimeFormat("iso");
        configuration.setDateTimeFormat("iso");
        configuration.setTemplateExceptionHandler(TemplateExceptionHandler.RETHROW_HANDLER);
        configuration.setLogTemplateExceptions(false);
        configuration.setAttemptExceptionReporter((exception, environment) -> { });
        configuration.setTagSyntax(Configuration.ANGLE_BRACKET_TAG_SYNTAX);
        configuration.setInterpolationSyntax(Configuration.LEGACY_INTERPOLATION_SYNTAX);
        configuration.setURLEscapingCharset("UTF-8");

        Map<String, Object> model = new LinkedHashMap<>();
        Map<String, Object> hash = new LinkedHashMap<>();
        hash.put("b", 1);
        hash.put("a", 2);
        model.put("x", true);
        model.put("v", "V");
        model.put("i", 1000);
        model.put("b", new BigDecimal("12.50"));
        model.put("xs", Arrays.asList("p", "q", "r"));
        model.put("h", hash);

        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        out.println(Configuration.getVersion());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Base64.Encoder encoder = Base64.getEncoder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String source = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            try {
                StringWriter written = new StringWriter();
                new Template("template", source, configuration).process(model, written);
                out.println("OK " + encoder.encodeToString(written.toString().getBytes(StandardCharsets.UTF_8)));
            } catch (ParseException problem) {
                answer(out, problem.getLineNumber(), problem.getColumnNumber(), problem.getMessage());
            } catch (TemplateException problem) {
                Integer atLine = problem.getLineNumber();
                Integer atColumn = problem.getColumnNumber();
                answer(out, atLine == null ? 0 : atLine, atColumn == null ? 0 : atColumn, problem.getMessage());
            } catch (Exception | StackOverflowError | OutOfMemoryError problem) {
                answer(out, 0, 0, problem.toString());
            }
        }
    }

    private static void answer(PrintStream out, int line, int column, String message) {
        byte[] bytes = String.valueOf(message).getBytes(StandardCharsets.UTF_8);
        out.println("ERR " + line + " " + column + " " + Base64.getEncoder().encodeToString(bytes));
    }
}
